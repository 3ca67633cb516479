import { defineChain } from '../chain.js'
import { cosmosVariables, readCosmosSettings } from './settings.js'

export const cosmos = defineChain({
  namespace: 'cosmos',
  variables: cosmosVariables,
  readSettings: readCosmosSettings,
  load: () => import('./open.js'),
})
