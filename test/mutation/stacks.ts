import type { Guard } from './guard.js'

const lookUp = 'src/chains/stacks/exactDirect/lookUp.ts'
const transfers = 'src/chains/stacks/exactDirect/transfers.ts'
const rpc = 'src/chains/stacks/rpc/rpc.ts'
const onChain = ['test/chains/stacks/pitfalls.test.ts']
const opened = ['test/chains/stacks/open.test.ts']

export const guards: readonly Guard[] = [
  {
    name: 'an aborted transaction is no payment',
    file: lookUp,
    from: "mined.tx_status !== 'success'",
    to: 'false',
    tests: onChain,
  },
  {
    name: 'a block of another branch proves nothing',
    file: lookUp,
    from: '  canonical &&\n  microblock_canonical &&\n',
    to: '',
    tests: onChain,
  },
  {
    name: 'a microblock proves nothing',
    file: lookUp,
    from: '  !is_unanchored &&\n',
    to: '',
    tests: onChain,
  },
  {
    name: 'confirmations are waited for',
    file: lookUp,
    from: 'tip.height - block_height + 1 >= CONFIRMATIONS',
    to: 'true',
    tests: onChain,
  },
  {
    name: 'Bitcoin blocks are waited for',
    file: lookUp,
    from: 'tip.burnHeight - burn_block_height >= BURN_CONFIRMATIONS',
    to: 'true',
    tests: onChain,
  },
  {
    name: 'only what the sender owned is paid',
    file: transfers,
    from: 'payer !== sender && !isRefund',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'what comes back to the sender is listed',
    file: transfers,
    from: 'recipient === sender && payer !== from',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'what another account lost is no payment of its owner',
    file: transfers,
    from: ' && payer !== from',
    to: '',
    tests: opened,
  },
  {
    name: 'a mint is no transfer',
    file: transfers,
    from: " || event.asset.asset_event_type !== 'transfer'",
    to: '',
    tests: onChain,
  },
  {
    name: 'another token of the contract is another asset',
    file: transfers,
    from: 'event.asset.asset_id === assetId ? asset',
    to: 'event.asset.asset_id.startsWith(asset) ? asset',
    tests: onChain,
  },
  {
    name: 'a memo belongs to the only transfer',
    file: transfers,
    from: 'moves.length === 1 && prints.length === 1',
    to: 'prints.length >= 1',
    tests: onChain,
  },
  {
    name: 'one of several tokens is not guessed',
    file: 'src/chains/stacks/exactDirect/tokenNames.ts',
    from: 'names?.length === 1 ? names : []',
    to: 'names ?? []',
    tests: onChain,
  },
  {
    name: 'the answer is about the transaction that was asked for',
    file: 'src/chains/stacks/rpc/wireShapes.ts',
    from: 'z.literal(id)',
    to: 'z.string()',
    tests: onChain,
  },
  {
    name: 'all events are read',
    file: rpc,
    from: 'while (all.length < count)',
    to: 'while (all.length < 0)',
    tests: onChain,
  },
  {
    name: 'the extra that clients pay names the asset',
    file: 'src/chains/stacks/exactDirect/chain.ts',
    from: 'contractAddress === undefined || contractAddress === asset',
    to: 'true',
    tests: opened,
  },
  {
    name: 'an address belongs to the network',
    file: 'src/chains/stacks/encoding/principal.ts',
    from: 'versions.includes(address.version)',
    to: 'true',
    tests: ['test/chains/stacks/encoding.test.ts'],
  },
  {
    name: 'a claim is signed by the account itself',
    file: 'src/chains/stacks/exactDirect/signedClaim.ts',
    from: ' === account',
    to: " !== ''",
    tests: ['test/chains/stacks/signedClaim.test.ts'],
  },
]
