import type { Guard } from './guard.js'

const transfers = 'src/chains/aptos/exactDirect/transfers.ts'
const lookUp = 'src/chains/aptos/exactDirect/lookUp.ts'
const shapes = 'src/chains/aptos/rpc/wireShapes.ts'
const claim = 'src/chains/aptos/exactDirect/signedClaim.ts'
const chain = 'src/chains/aptos/exactDirect/chain.ts'
const pitfalls = ['test/chains/aptos/pitfalls.test.ts']
const evidence = ['test/chains/aptos/transfers.test.ts']
const opening = ['test/chains/aptos/open.test.ts']
const claims = ['test/chains/aptos/signedClaim.test.ts']

export const guards: readonly Guard[] = [
  {
    name: 'an aborted transaction moved nothing',
    file: lookUp,
    from: 'return found.success',
    to: 'return true',
    tests: pitfalls,
  },
  {
    name: 'a transaction that waits is not final',
    file: lookUp,
    from: "return { state: 'pending' }",
    to: "return { state: 'failed' }",
    tests: pitfalls,
  },
  {
    name: 'the 404 of a gateway is not an unknown transaction',
    file: lookUp,
    from: " && message.includes('transaction_not_found')",
    to: '',
    tests: opening,
  },
  {
    name: 'only primary stores count',
    file: transfers,
    from: ' && getPrimaryStore(owner, asset) === store',
    to: '',
    tests: [...pitfalls, ...evidence],
  },
  {
    name: 'what the recipient gave back is subtracted',
    file: transfers,
    from: "kind === 'deposit' ? amount : -amount",
    to: "kind === 'deposit' ? amount : 0n",
    tests: [...pitfalls, ...evidence],
  },
  {
    name: 'no more counts than the sender gave',
    file: transfers,
    from: 'left < right ? left : right',
    to: 'left',
    tests: [...pitfalls, ...evidence],
  },
  {
    name: 'the credit decides, not the debit',
    file: transfers,
    from: 'left < right ? left : right',
    to: 'left > 0n ? right : left',
    tests: [...pitfalls, ...evidence],
  },
  {
    name: 'only stores of the sender pay',
    file: transfers,
    from: 'if (store === from) ofSender += amount',
    to: 'if (store !== to) ofSender += amount',
    tests: pitfalls,
  },
  {
    name: 'the sender is credited with what others gave last',
    file: transfers,
    from: 'const taken = smaller(amount, ofOthers)',
    to: 'const taken = 0n',
    tests: pitfalls,
  },
  {
    name: 'another deposit takes from the sender first',
    file: transfers,
    from: 'const taken = smaller(amount, ofSender)',
    to: 'const taken = 0n',
    tests: pitfalls,
  },
  {
    name: 'a minted deposit is no transfer',
    file: transfers,
    from: ' || changedSupplies.includes(credited)',
    to: '',
    tests: pitfalls,
  },
  {
    name: 'the payer is the sender of the transaction',
    file: transfers,
    from: 'from: sender, to: owner',
    to: 'from: accounts[0] ?? sender, to: owner',
    tests: pitfalls,
  },
  {
    name: 'deposits of other modules do not count',
    file: shapes,
    from: 'type: z.literal(depositType)',
    to: "type: z.string().endsWith('::fungible_asset::Deposit')",
    tests: [...pitfalls, ...evidence],
  },
  {
    name: 'withdrawals of other modules do not count',
    file: shapes,
    from: 'type: z.literal(withdrawType)',
    to: "type: z.string().endsWith('::fungible_asset::Withdraw')",
    // Hidden in whole payments: a deposit is taken from what others withdrew first.
    tests: ['test/chains/aptos/transfers.test.ts'],
  },
  {
    name: 'the answer is about the transaction that was asked for',
    file: shapes,
    from: 'transaction.hash === asked',
    to: "transaction.hash !== ''",
    tests: [...opening, ...evidence],
  },
  {
    name: 'amounts are natural numbers',
    file: shapes,
    from: '/^\\d{1,20}$/',
    to: '/^-?\\d{1,20}$/',
    tests: evidence,
  },
  {
    name: 'times are microseconds',
    file: shapes,
    from: 'microseconds / microsecondsPerMillisecond',
    to: 'microseconds',
    tests: evidence,
  },
  {
    name: 'an address is hex',
    file: 'src/chains/aptos/encoding/address.ts',
    from: 'form.test(text)',
    to: 'text.length <= 66',
    tests: ['test/chains/aptos/encoding.test.ts'],
  },
  {
    name: 'an endpoint of another chain is not used',
    file: 'src/chains/aptos/rpc/endpoint.ts',
    from: 'String(ledger.chain_id)',
    to: "'2'",
    tests: opening,
  },
  {
    name: 'only configured assets are settled',
    file: 'src/chains/common/direct/tokens.ts',
    from: 'isOffered: (asset) => offered.has(asset)',
    to: 'isOffered: () => true',
    tests: pitfalls,
  },
  {
    name: 'a malformed asset of the payload is refused',
    file: chain,
    from: " ?? 'invalid'",
    to: ' ?? null',
    tests: pitfalls,
  },
  {
    name: 'a claim is signed',
    file: claim,
    from: 'isSigned && listAuthenticationKeys',
    to: 'listAuthenticationKeys',
    tests: claims,
  },
  {
    name: 'the key of a claim is the one that the account has now',
    file: claim,
    from: 'isSigned && listAuthenticationKeys(key).includes(await getAuthenticationKey(account, ask))',
    to: 'isSigned',
    tests: claims,
  },
]
