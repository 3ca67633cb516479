import { expect } from 'vitest'
import { readTezosSettings } from '../../../src/chains/tezos/settings.js'
import { describeDirectSettings } from '../../contracts/directSettingsContract.js'

const url = 'https://node.example/secret-path'
const contract = 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o'

const mainnet = {
  network: 'tezos:NetXdQprcVkpaWU',
  tokens: [{ asset: `${contract}:0`, symbol: 'USDt', decimals: 6 }],
}

describeDirectSettings('Tezos', readTezosSettings, {
  read: [
    [
      'need one endpoint of a node',
      { TEZOS_RPC_URL_mainnet: url },
      [
        {
          ...mainnet,
          rpcUrls: [expect.anything()],
          own: expect.not.objectContaining({ TZKT_URL: expect.anything() }),
        },
      ],
    ],
    [
      'or one of an indexer',
      { TEZOS_TZKT_URL_mainnet: url },
      [{ ...mainnet, rpcUrls: [], own: { TZKT_URL: [expect.anything()] } }],
    ],
  ],
  malformed: [
    ['TEZOS_TZKT_URL_mainnet', 'hunter2'],
    ['TEZOS_TOKENS_mainnet', `${contract}:01`],
    ['TEZOS_TOKENS_mainnet', 'tz1hunter2'],
  ],
  refused: [
    [{ TEZOS_RPC_URL_ghostnet: url }, 'TEZOS_TOKENS_ghostnet: is required'],
    [{ TEZOS_RPC_URL_other: url, TEZOS_TOKENS_other: contract }, 'TEZOS_CHAIN_ID_other: is required'],
    [{ TEZOS_API_KEY_mainnet: 'key' }, 'TEZOS_API_KEY_mainnet: is not a known setting'],
  ],
})
