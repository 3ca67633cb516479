import { expect } from 'vitest'
import { readAptosSettings } from '../../../src/chains/aptos/settings.js'
import { describeDirectSettings } from '../../contracts/directSettingsContract.js'

const url = 'https://node.example/secret-path'

describeDirectSettings('Aptos', readAptosSettings, {
  read: [
    [
      'need only an endpoint: chain and tokens of known networks are built in',
      { APTOS_RPC_URL_mainnet: url, APTOS_RPC_URL_testnet: url },
      [
        { network: 'aptos:1', chainId: '1', tokens: [{ symbol: 'USDC' }, { symbol: 'USDT' }, {}] },
        { network: 'aptos:2', chainId: '2', tokens: [{ symbol: 'USDT', decimals: 6 }] },
      ],
    ],
    [
      'read another network by its chain id, with an API key',
      {
        APTOS_RPC_URL_devnet: `${url},${url}/2`,
        APTOS_CHAIN_ID_devnet: '149',
        APTOS_TOKENS_devnet: '0xA=APT/8',
        APTOS_API_KEY_devnet: 'key-of-the-provider',
      },
      [
        {
          network: 'aptos:149',
          tokens: [{ asset: '0xA', symbol: 'APT', decimals: 8 }],
          apiKey: expect.anything(),
        },
      ],
    ],
  ],
  malformed: [
    ['APTOS_RPC_URL_testnet', 'hunter2'],
    ['APTOS_TOKENS_testnet', 'USDT'],
    ['APTOS_TOKENS_testnet', '*'],
    ['APTOS_CHAIN_ID_testnet', 'hunter2'],
  ],
  refused: [
    [{ APTOS_RPC_URL: url }, 'write APTOS_RPC_URL_<network>'],
    [{ APTOS_SIGNER_testnet: '0x1' }, 'APTOS_SIGNER_testnet: is not a known setting'],
  ],
})
