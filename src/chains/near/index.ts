import { defineChain } from '../chain.js'
import { nearVariables, readNearSettings } from './settings.js'

export const near = defineChain({
  namespace: 'near',
  variables: nearVariables,
  readSettings: readNearSettings,
  load: () => import('./open.js'),
})
