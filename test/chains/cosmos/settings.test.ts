import { readCosmosSettings } from '../../../src/chains/cosmos/settings.js'
import { describeDirectSettings } from '../../contracts/directSettingsContract.js'

const url = 'https://node.example/secret-path'

describeDirectSettings('Cosmos', readCosmosSettings, {
  read: [
    [
      'need only an endpoint',
      { COSMOS_RPC_URL_noble: url, COSMOS_RPC_URL_grand: url },
      [
        {
          network: 'cosmos:noble-1',
          tokens: [{ asset: 'uusdc', symbol: 'USDC', decimals: 6 }],
          own: { PREFIX: 'noble' },
        },
        { network: 'cosmos:grand-1', own: { PREFIX: 'noble' } },
      ],
    ],
    [
      'read another bank chain by its chain id, prefix and denomination',
      {
        COSMOS_RPC_URL_osmosis: url,
        COSMOS_CHAIN_ID_osmosis: 'osmosis-1',
        COSMOS_PREFIX_osmosis: 'osmo',
        COSMOS_TOKENS_osmosis: `ibc/${'AB'.repeat(32)}=USDC/6`,
      },
      [
        {
          network: 'cosmos:osmosis-1',
          own: { PREFIX: 'osmo' },
          tokens: [{ asset: `ibc/${'AB'.repeat(32)}`, symbol: 'USDC', decimals: 6 }],
        },
      ],
    ],
    [
      'let a chain that replaces Noble keep its name',
      {
        COSMOS_RPC_URL_noble: url,
        COSMOS_CHAIN_ID_noble: 'noble-2',
        COSMOS_PREFIX_noble: 'nbl',
        COSMOS_TOKENS_noble: 'usdc=USDC/6',
      },
      [{ network: 'cosmos:noble-2', own: { PREFIX: 'nbl' } }],
    ],
  ],
  malformed: [
    ['COSMOS_RPC_URL_grand', 'ftp://hunter2'],
    ['COSMOS_TOKENS_grand', '2hunter2'],
    ['COSMOS_PREFIX_grand', 'HUNTER2'],
    ['COSMOS_SIGNER_grand', 'hunter2'],
    ['COSMOS_CROSS_CHECK_AMOUNT', '-1'],
  ],
  refused: [
    [{ COSMOS_RPC_URL: url }, 'write COSMOS_RPC_URL_<network>'],
    [
      { COSMOS_RPC_URL_local: url, COSMOS_CHAIN_ID_local: 'local-1', COSMOS_TOKENS_local: 'uusd' },
      'COSMOS_PREFIX_local: is required, because local is not built in',
    ],
  ],
})
