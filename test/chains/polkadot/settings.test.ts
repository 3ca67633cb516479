import { readPolkadotSettings } from '../../../src/chains/polkadot/settings.js'
import { describeDirectSettings } from '../../contracts/directSettingsContract.js'

const url = 'https://node.example/secret-path'
const kusama = '48239ef607d7928874027a43a6768920'
const ofKusama = { POLKADOT_RPC_URL_kusama: url, POLKADOT_TOKENS_kusama: '1984=USDT/6' }

describeDirectSettings('Polkadot', readPolkadotSettings, {
  read: [
    [
      'know Asset Hub and its tokens',
      { POLKADOT_RPC_URL_assethub: url },
      [
        {
          network: 'polkadot:68d56f15f85d3136970ec16946040bc1',
          tokens: [
            { asset: '1984', symbol: 'USDT', decimals: 6 },
            { asset: '1337', symbol: 'USDC', decimals: 6 },
          ],
          pollIntervalMs: 3_000,
        },
      ],
    ],
    [
      'read another chain by its id',
      { ...ofKusama, POLKADOT_CHAIN_ID_kusama: kusama },
      [{ network: `polkadot:${kusama}` }],
    ],
  ],
  malformed: [
    ['POLKADOT_TOKENS_assethub', '01984'],
    ['POLKADOT_TOKENS_assethub', 'hunter2'],
    ['POLKADOT_TOKENS_assethub', '*'],
    ['POLKADOT_CHAIN_ID_assethub', `0x${'68d56f15'.repeat(8)}`],
  ],
  refused: [
    [{ POLKADOT_RPC_URL_westend: url }, 'POLKADOT_TOKENS_westend: is required'],
    [ofKusama, 'POLKADOT_CHAIN_ID_kusama: is required'],
    [{ POLKADOT_SIGNER_assethub: 'x' }, 'POLKADOT_SIGNER_assethub: is not a known setting'],
    [{ POLKADOT_API_KEY_assethub: 'x' }, 'POLKADOT_API_KEY_assethub: is not a known setting'],
  ],
})
