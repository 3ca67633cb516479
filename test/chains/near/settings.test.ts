import { expect } from 'vitest'
import { readNearSettings } from '../../../src/chains/near/settings.js'
import { describeDirectSettings } from '../../contracts/directSettingsContract.js'

const url = 'https://node.example/secret-path'

describeDirectSettings('NEAR', readNearSettings, {
  read: [
    [
      'need only an endpoint',
      { NEAR_RPC_URL_mainnet: url },
      [
        {
          network: 'near:mainnet',
          tokens: [
            {
              asset: '17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1',
              symbol: 'USDC',
              decimals: 6,
            },
            { asset: 'usdt.tether-token.near', symbol: 'USDT', decimals: 6 },
          ],
          pollIntervalMs: 1_000,
        },
      ],
    ],
    [
      'read several networks, an unknown one by its chain id',
      {
        NEAR_RPC_URL_testnet: `${url},${url}/2`,
        NEAR_API_KEY_testnet: 'key-of-the-provider',
        NEAR_SIGNER_testnet: 'facilitator.testnet',
        NEAR_RPC_URL_local: url,
        NEAR_CHAIN_ID_local: 'localnet',
        NEAR_TOKENS_local: 'usd.test.near=USD/18',
      },
      [
        { signers: ['facilitator.testnet'], apiKey: expect.anything() },
        { network: 'near:localnet', tokens: [{ asset: 'usd.test.near', symbol: 'USD', decimals: 18 }] },
      ],
    ],
  ],
  malformed: [
    ['NEAR_RPC_URL_testnet', 'ftp://hunter2'],
    ['NEAR_TOKENS_testnet', 'Hunter2.near'],
    ['NEAR_TOKENS_testnet', '*'],
    ['NEAR_SIGNER_testnet', 'hunter2..near'],
    ['NEAR_CROSS_CHECK_AMOUNT', '-1'],
    ['NEAR_API_KEY_testnet', 'hunter2 with a blank'],
    ['NEAR_POLL_INTERVAL_MS_testnet', '0'],
  ],
  refused: [[{ NEAR_RPC_URL: url }, 'write NEAR_RPC_URL_<network>']],
})
