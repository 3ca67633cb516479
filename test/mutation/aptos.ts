import { type Guard, guardsIn } from './guard.js'

const lookUp = 'src/chains/aptos/lookUp.ts'
const rpc = 'src/chains/aptos/rpc.ts'
const claim = 'src/chains/aptos/signedClaim.ts'
const chain = 'src/chains/aptos/open.ts'
const pitfalls = ['test/chains/aptos/pitfalls.test.ts']
const evidence = ['test/chains/aptos/transfers.test.ts']
const opening = ['test/chains/aptos/open.test.ts']
const claims = ['test/chains/aptos/signedClaim.test.ts']

export const guards: readonly Guard[] = [
  ...guardsIn(lookUp, pitfalls, {
    'an aborted transaction moved nothing': ['return found.success', 'return true'],
    'a transaction that waits is not final': ["return { state: 'pending' }", "return { state: 'failed' }"],
  }),
  ...guardsIn(rpc, opening, {
    'the 404 of a gateway is not an unknown transaction': [
      " && message.includes('transaction_not_found')",
      '',
    ],
  }),
  ...guardsIn(lookUp, [...pitfalls, ...evidence], {
    'only primary stores count': [' && getPrimaryStore(owner, asset) === store', ''],
    'what the recipient gave back is subtracted': [
      "kind === 'deposit' ? amount : -amount",
      "kind === 'deposit' ? amount : 0n",
    ],
    'no more counts than the sender gave': ['left < right ? left : right', 'left'],
    'the credit decides, not the debit': ['left < right ? left : right', 'left > 0n ? right : left'],
  }),
  ...guardsIn(lookUp, pitfalls, {
    'only stores of the sender pay': [
      'if (store === from) ofSender += amount',
      'if (store !== to) ofSender += amount',
    ],
    'the sender is credited with what others gave last': [
      'const taken = smaller(amount, ofOthers)',
      'const taken = 0n',
    ],
    'another deposit takes from the sender first': [
      'const taken = smaller(amount, ofSender)',
      'const taken = 0n',
    ],
    'a minted deposit is no transfer': [' || changedSupplies.includes(credited)', ''],
    'the payer is the sender of the transaction': [
      'from: sender, to: owner',
      'from: accounts[0] ?? sender, to: owner',
    ],
  }),
  ...guardsIn(rpc, [...pitfalls, ...evidence], {
    'deposits of other modules do not count': [
      'type: z.literal(depositType)',
      "type: z.string().endsWith('::fungible_asset::Deposit')",
    ],
  }),
  ...guardsIn(rpc, ['test/chains/aptos/transfers.test.ts'], {
    // Hidden in whole payments: a deposit is taken from what others withdrew first.
    'withdrawals of other modules do not count': [
      'type: z.literal(withdrawType)',
      "type: z.string().endsWith('::fungible_asset::Withdraw')",
    ],
  }),
  ...guardsIn(rpc, [...opening, ...evidence], {
    'the answer is about the transaction that was asked for': [
      'transaction.hash === asked',
      "transaction.hash !== ''",
    ],
  }),
  ...guardsIn(rpc, evidence, {
    'amounts are natural numbers': ['/^\\d{1,20}$/', '/^-?\\d{1,20}$/'],
    'times are microseconds': ['microseconds / microsecondsPerMillisecond', 'microseconds'],
  }),
  ...guardsIn('src/chains/aptos/addresses.ts', ['test/chains/aptos/encoding.test.ts'], {
    'an address is hex': ['form.test(text)', 'text.length <= 66'],
  }),
  ...guardsIn(rpc, opening, {
    'an endpoint of another chain is not used': ['String(ledger.chain_id)', "'2'"],
  }),
  ...guardsIn('src/chains/common/direct/tokens.ts', pitfalls, {
    'only configured assets are settled': [
      'isOffered: (asset) => offered.has(asset)',
      'isOffered: () => true',
    ],
  }),
  ...guardsIn(chain, pitfalls, {
    'a malformed asset of the payload is refused': [" ?? 'invalid'", ' ?? null'],
  }),
  ...guardsIn(claim, claims, {
    'a claim is signed': ['isSigned && listAuthenticationKeys', 'listAuthenticationKeys'],
    'the key of a claim is the one that the account has now': [
      'isSigned && listAuthenticationKeys(key).includes(await readAuthenticationKey(ask, account))',
      'isSigned',
    ],
  }),
]
