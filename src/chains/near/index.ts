import { defineChain } from '../chain.js'
import { readNearSettings } from './settings.js'

export const near = defineChain({
  namespace: 'near',
  readSettings: readNearSettings,
  load: () => import('./open.js'),
})
