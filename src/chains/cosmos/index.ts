import { defineChain } from '../chain.js'
import { readCosmosSettings } from './settings.js'

export const cosmos = defineChain({
  namespace: 'cosmos',
  readSettings: readCosmosSettings,
  load: () => import('./open.js'),
})
