import { expect } from 'vitest'
import { readStacksSettings } from '../../../src/chains/stacks/settings.js'
import { describeDirectSettings } from '../../contracts/directSettingsContract.js'

const url = 'https://node.example/secret-path'
const contract = 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K.token-susdc'

describeDirectSettings('Stacks', readStacksSettings, {
  read: [
    [
      'know mainnet and testnet',
      { STACKS_RPC_URL_mainnet: url, STACKS_RPC_URL_testnet: url },
      [
        {
          network: 'stacks:1',
          tokens: [{ asset: contract, decimals: 6 }],
          own: { CONFIRMATIONS: 3, BURN_CONFIRMATIONS: 0 },
        },
        { network: 'stacks:2147483648' },
      ],
    ],
    [
      'announce signers, send a key, and name one token of a contract',
      {
        STACKS_RPC_URL_mainnet: url,
        STACKS_SIGNER_mainnet: 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K',
        STACKS_API_KEY_mainnet: 'key',
        STACKS_TOKENS_mainnet: `${contract}::usd-token!=USD/6`,
        STACKS_CONFIRMATIONS_mainnet: '6',
        STACKS_BURN_CONFIRMATIONS_mainnet: '1',
      },
      [
        {
          signers: ['SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K'],
          apiKey: expect.anything(),
          tokens: [{ asset: `${contract}::usd-token!`, symbol: 'USD', decimals: 6 }],
          own: { CONFIRMATIONS: 6, BURN_CONFIRMATIONS: 1 },
        },
      ],
    ],
  ],
  malformed: [
    ['STACKS_TOKENS_mainnet', 'hunter2'],
    ['STACKS_TOKENS_mainnet', '*'],
    ['STACKS_SIGNER_mainnet', 'hunter2'],
    ['STACKS_CONFIRMATIONS_mainnet', '0'],
    ['STACKS_BURN_CONFIRMATIONS_mainnet', '4'],
    ['STACKS_CHAIN_ID_mainnet', 'hunter2'],
  ],
  refused: [],
})
