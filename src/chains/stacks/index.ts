import { defineChain } from '../chain.js'
import { readStacksSettings } from './settings.js'

export const stacks = defineChain({
  namespace: 'stacks',
  readSettings: readStacksSettings,
  load: () => import('./open.js'),
})
