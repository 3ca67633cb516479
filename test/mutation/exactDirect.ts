import { type Guard, guardsIn } from './guard.js'

const judge = 'src/schemes/exactDirect/judge.ts'
const scheme = 'src/schemes/exactDirect/scheme.ts'
const payload = 'src/schemes/exactDirect/payload.ts'
const crossCheck = 'src/chains/common/direct/crossCheck.ts'
const judged = ['test/schemes/exactDirect/judge.test.ts']
const claimRules = 'src/usecases/core/verify/claimRules.ts'
const claimTests = ['test/usecases/core/claimRules.test.ts']
const schemeTests = ['test/schemes/exactDirect/scheme.test.ts']

export const guards: readonly Guard[] = [
  ...guardsIn(judge, judged, {
    'a block of the future is not final': ['includedAt.getTime() > now.getTime() + maxClockSkewMs', 'false'],
    'old transactions are refused': ['includedAt < terms.notBefore', 'false'],
    'another payer is refused': ['transfer.from === from && transfer.to === to', 'transfer.to === to'],
    'another recipient is refused': [
      'transfer.to === to && transfer.asset === asset',
      'transfer.asset === asset',
    ],
    'another asset is refused': [' && transfer.asset === asset', ''],
    'refunds are subtracted': ['sum(counted) - sum(returned)', 'sum(counted)'],
    'a lower amount is refused': [' || amount < terms.amount', ''],
    'another memo is refused': ['paid.filter(({ memo }) => memo === terms.memo)', 'paid'],
    'a failed transaction is refused': [
      "return { state: 'refused', reason: 'transaction_failed' }",
      "return { state: 'unknown', reason: 'transaction_not_final' }",
    ],
    'more than a unique amount is refused': ['terms.isExact && amount !== terms.amount', 'false'],
  }),
  ...guardsIn(scheme, schemeTests, {
    'an asset that is not settled is refused': ['asset !== null && chain.isOffered(asset)', 'asset !== null'],
    'the age is bounded by an hour': [
      'Math.min(Math.max(maxTimeoutSeconds, chain.minAgeSeconds), longestAgeSeconds)',
      'Math.max(maxTimeoutSeconds, chain.minAgeSeconds)',
    ],
    'the claim is checked': ['problem !== null', 'false'],
    'a transaction that is not final is recorded before settle waits for it': [
      'await recorder.record({ transaction: query.transaction, bytes: query.transaction })',
      '',
    ],
    'no more is settled than was claimed': [
      'judgement.amount < claimedAmount ? judgement.amount : claimedAmount',
      'judgement.amount',
    ],
    'a transaction that nodes do not know fails only after an hour': [' && waitedMs > missingAfterMs', ''],
    'a pending transaction never fails by waiting': [
      "judgement.reason === 'transaction_not_found' && waitedMs",
      'waitedMs',
    ],
  }),
  ...guardsIn('src/schemes/exactDirect/rules.ts', schemeTests, {
    'the asset of the payload must be the required one': ['claimed === null || claimed === asset', 'true'],
    'the recipient of the payload must be payTo': [
      'proof.to === chain.readAddress(payment.requirements.payTo)',
      'true',
    ],
    'a payment to oneself is refused': ['proof.from === proof.to', 'false'],
  }),
  ...guardsIn(payload, schemeTests, {
    'a required claim must be there': [
      'requirements.extra.requireSignedClaim === true',
      'requirements.extra.requireSignedClaim === false',
    ],
    'the claim names the transaction': ['{transaction}', "{''}"],
    'the claim names the resource': ["resource ?? ''", "''"],
    'a claim that the recipient demands must be there': [
      "if (isRequired) return 'what the recipient has stated'",
      '',
    ],
    'hash fields that name two transactions are refused': [
      'others.every((other) => other === first) ? first : null',
      'first',
    ],
    'texts are bounded before a codec reads them': [
      "typeof hash === 'string' && hash.length <= maxTextLength",
      "typeof hash === 'string'",
    ],
  }),
  ...guardsIn('src/schemes/exactDirect/memo.ts', schemeTests, {
    'a short preimage is none': ['{32,128}', '{1,128}'],
    'a demanded memo is shown by its preimage': ['memo && !isMemoPreimage(extra.memoPreimage)', 'false'],
  }),
  ...guardsIn('src/schemes/exactDirect/inquiry.ts', schemeTests, {
    'the payer is part of the identity': [
      '[network, transaction, asset, from, to]',
      '[network, transaction, asset, to]',
    ],
    'a transfer from before the offer is refused, after a crash too': [
      'exactSince !== null && exactSince > earliest ? exactSince : earliest',
      'earliest',
    ],
  }),
  ...guardsIn(claimRules, claimTests, {
    'only the keys of the stated account claim': [
      'statement.demands.ownKey && caller !== statement.accountId',
      'false',
    ],
    'callers without a key claim nothing under keyed': [
      "policy === 'keyed' && isForSettle && caller === 'anonymous'",
      'false',
    ],
    'a unique amount is shown with its offer': ['offer === null', 'false'],
  }),
  ...guardsIn('src/usecases/core/describe/offers.ts', claimTests, {
    'unique amounts are issued to the stated account only': ['statement.accountId !== caller', 'false'],
  }),
  ...guardsIn('src/usecases/core/verify/paymentJudge.ts', ['test/usecases/core/directPayments.test.ts'], {
    'verify asks the journal what is claimed': [' && isSpentOnChain', ''],
  }),
  ...guardsIn(
    'src/usecases/core/verify/checkRequirements.ts',
    ['test/usecases/core/directPayments.test.ts'],
    {
      'contradictory requirements are refused': ['contradiction !== null', 'false'],
    },
  ),
  ...guardsIn(crossCheck, ['test/chains/common/direct/crossCheck.test.ts'], {
    'large payments need two endpoints': ['!(await isAgreed(query, found))', 'false'],
    'endpoints must agree on the amount': [
      'describeAll(left.transfers) === describeAll(right.transfers)',
      'true',
    ],
    'lagging nodes do not say that a transaction is unknown': [
      '(found) || node.isFresh()',
      '(found) || true',
    ],
    'nor do nodes that were asked again and still lag': ['(again) || node.isFresh()', '(again) || true'],
    'what old blocks lacked is read again': ['await read(query, node.ask) : found', 'found : found'],
  }),
  ...guardsIn('src/chains/common/direct/node.ts', ['test/chains/common/direct/node.test.ts'], {
    'the old block of a node that backs off is old': [
      'available.length > 0 ? available : reports',
      'available',
    ],
    'nodes that stand still are not asked by each request': ['>= refreshPauseMs', '>= 0'],
  }),
]
