import { defineChain } from '../chain.js'
import { readStacksSettings, stacksVariables } from './settings.js'

export const stacks = defineChain({
  namespace: 'stacks',
  variables: stacksVariables,
  readSettings: readStacksSettings,
  load: () => import('./open.js'),
})
