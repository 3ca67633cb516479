import { type Guard, guardsIn } from './guard.js'

const lookUp = 'src/chains/stacks/lookUp.ts'
const rpc = 'src/chains/stacks/rpc.ts'
const onChain = ['test/chains/stacks/simnet.test.ts']
const opened = ['test/chains/stacks/open.test.ts']

export const guards: readonly Guard[] = [
  ...guardsIn(lookUp, onChain, {
    'an aborted transaction is no payment': ["mined.tx_status !== 'success'", 'false'],
    'a block of another branch proves nothing': ['  canonical &&\n  microblock_canonical &&\n', ''],
    'a microblock proves nothing': ['  !is_unanchored &&\n', ''],
    'confirmations are waited for': ['tip.height - block_height + 1 >= CONFIRMATIONS', 'true'],
    'Bitcoin blocks are waited for': ['tip.burnHeight - burn_block_height >= BURN_CONFIRMATIONS', 'true'],
  }),
  ...guardsIn(lookUp, onChain, {
    'only what the sender owned is paid': ['payer !== sender && !isRefund', 'false'],
    'what comes back to the sender is listed': ['recipient === sender && payer !== from', 'false'],
    'a mint is no transfer': [" || event.asset.asset_event_type !== 'transfer'", ''],
    'another token of the contract is another asset': [
      'event.asset.asset_id === assetId ? asset',
      'event.asset.asset_id.startsWith(asset) ? asset',
    ],
    'a memo belongs to the only transfer': [
      'moves.length === 1 && prints.length === 1',
      'prints.length >= 1',
    ],
  }),
  ...guardsIn(lookUp, opened, {
    'what another account lost is no payment of its owner': [' && payer !== from', ''],
  }),
  ...guardsIn(lookUp, onChain, {
    'one of several tokens is not guessed': ['names?.length === 1 ? names : []', 'names ?? []'],
  }),
  ...guardsIn(rpc, onChain, {
    'the answer is about the transaction that was asked for': [
      'transaction.tx_id === id ?',
      'transaction.tx_id !== null ?',
    ],
  }),
  ...guardsIn(rpc, onChain, {
    'all events are read': ['while (all.length < count)', 'while (all.length < 0)'],
  }),
  ...guardsIn('src/chains/stacks/open.ts', opened, {
    'the extra that clients pay names the asset': [
      'contractAddress === undefined || contractAddress === asset',
      'true',
    ],
  }),
  ...guardsIn('src/chains/stacks/addresses.ts', ['test/chains/stacks/encoding.test.ts'], {
    'an address belongs to the network': ['versions.includes(address.version)', 'true'],
  }),
  ...guardsIn('src/chains/stacks/signedClaim.ts', ['test/chains/stacks/signedClaim.test.ts'], {
    'a claim is signed by the account itself': [' === account', " !== ''"],
  }),
]
