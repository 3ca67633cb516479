import { type Guard, guardsIn } from './guard.js'

const folder = 'src/chains/evm/channels'
const testFolder = 'test/chains/evm/channels'
const reasons = [`${testFolder}/reasons.test.ts`]
const attacks = [`${testFolder}/attacks.test.ts`]
const custody = [`${testFolder}/custody.test.ts`]
const care = [`${testFolder}/careAttacks.test.ts`]
const streams = [`${testFolder}/streams.test.ts`]
const ledger = ['test/stores/postgres/channels/channelLedger.test.ts']

export const guards: readonly Guard[] = [
  ...guardsIn(`${folder}/contract.ts`, ['test/chains/evm/channels/contract.test.ts'], {
    'another config under the id of a known one is refused': [
      'known !== undefined && isSameConfig(known, config)',
      'known !== undefined',
    ],
  }),
  ...guardsIn(`${folder}/checks.ts`, reasons, {
    'an id that the channel does not have is refused': ['!isIdOf(chainId, channelId, config)', 'false'],
    'a channel of another receiver is refused': ['!names(payTo, config.receiver)', 'false'],
    'a channel of another token is refused': ['!names(asset, config.token)', 'false'],
    'a voucher that does not cover the price is refused': [
      'maxClaimable > totalClaimed && maxClaimable >= totalClaimed + price',
      'true',
    ],
    'what a withdrawal can take backs no voucher': [
      'balance + deposit - withdrawal - refundable',
      'balance + deposit - refundable',
    ],
  }),
  ...guardsIn(`${folder}/voucher.ts`, reasons, {
    'a voucher that another key signed is refused': ['if (signer === null) return refuse(unsigned)', ''],
  }),
  ...guardsIn(`${folder}/voucher.ts`, custody, {
    'a channel that is bound to another account is refused': [
      ' ?? (await custody.findProblem(proof, caller))',
      '',
    ],
  }),
  ...guardsIn(`${folder}/claim.ts`, reasons, {
    'a claim of another receiver is refused': ['!isNamed(payTo, config.receiver)', 'false'],
    'a claim of a token that is not listed is refused': ['!isListed(network.tokens, config.token)', 'false'],
    'rows of several authorizers are refused': [
      '!isSameAddress(config.receiverAuthorizer, authorizer)',
      'false',
    ],
  }),
  ...guardsIn(`${folder}/claim.ts`, [`${testFolder}/care.test.ts`], {
    'a claim that its payer can void shares no transaction': [
      'signature === null && rows.every(({ config }) => !isZero(config.payerAuthorizer))',
      'signature === null',
    ],
  }),
  ...guardsIn(`${folder}/claim.ts`, custody, {
    'rows of channels of others are refused': ['unowned !== null', 'false'],
  }),
  ...guardsIn(`${folder}/custody.ts`, custody, {
    'nothing is signed for channels of others': ['(await findUnowned(channels, caller)) !== null', 'false'],
  }),
  ...guardsIn(`${folder}/checks.ts`, care, {
    'what a signed refund can take backs no voucher': [
      'balance + deposit - withdrawal - refundable',
      'balance + deposit - withdrawal',
    ],
    'a signed refund is over once its nonce is used': ['signedRefund.nonce === refundNonce', 'true'],
    'no voucher counts while a reorg has undone a refund': ['signedRefund.nonce > refundNonce', 'false'],
  }),
  ...guardsIn(`${folder}/custody.ts`, care, {
    'a refund is recorded before it is signed': [
      'await store.recordRefund({ network, channelId }, { nonce, amount })',
      '',
    ],
  }),
  ...guardsIn(`${folder}/refund.ts`, care, {
    'a refund is signed for what its claim leaves': [
      'refundSignature === null ? paid : order.amount',
      'order.amount',
    ],
    'no refund is signed whose claim a withdrawal can revert': [
      'refundSignature === null && isExposed(',
      'false && isExposed(',
    ],
  }),
  ...guardsIn('src/usecases/channels/claimChannels.ts', care, {
    'a withdrawal waits for no claim that stays open': [
      'isUrgent(channel, now()) && isStalled(newest)',
      'false',
    ],
  }),
  ...guardsIn(
    'src/usecases/channels/watchWithdrawals.ts',
    ['test/usecases/channels/watchWithdrawals.test.ts'],
    {
      'what a reorg replaced is read again': ['from > head.recent ? from - head.recent : 0n', 'from'],
      'withdrawals of one account come before none of another': [
        'takeTurns(unnoticed, ({ accountId }) => accountId)',
        'unnoticed',
      ],
      'what was not looked at is read again': [
        'if (announced.nextBlock <= next || !(await lookAt(announced.channelIds))) break',
        'await lookAt(announced.channelIds)',
      ],
    },
  ),
  ...guardsIn(`${folder}/announcements.ts`, [`${testFolder}/announcements.test.ts`], {
    'no answer counts for blocks that its node had not': ['smaller(to, head)', 'to'],
    'what one node leaves out is asked of another': ['turn % witnesses.length', '0'],
  }),
  ...guardsIn('src/usecases/channels/claimable.ts', [`${testFolder}/withdrawals.test.ts`], {
    'no withdrawal that can be executed first has the claim of others revert': [
      ' || isOvertakable(claimable, nowMs)',
      '',
    ],
  }),
  ...guardsIn('src/stores/postgres/journal/hurrySettlement.ts', [`${testFolder}/care.test.ts`], {
    'what others spend keeps no open claim from being replaced before a withdrawal': [
      " || jsonb_build_object('account', $2::text, 'share', u.share)",
      '',
    ],
  }),
  ...guardsIn(
    'src/chains/evm/transactions/fees/gasBudget.ts',
    ['test/chains/evm/transactions/lanes/lanes.test.ts'],
    {
      'what others spend keeps no nonce before an urgent one stuck': ['if (drawn !== null) return', ''],
    },
  ),
  ...guardsIn('src/usecases/core/verify/streamedChannels.ts', streams, {
    'a voucher pays nothing beside what failed streams of its account used': [
      'ceiling > owed && ceiling >= owed + payment.requirements.amount',
      'true',
    ],
    'a voucher of an open stream pays nothing else': ['return addsToOpen', 'return true'],
  }),
  ...guardsIn('src/usecases/channels/sweepReceivers.ts', care, {
    'limits of one account keep no receiver from its payout': [
      'await ledger.passOver(receiver, clock.now())\n      throw error',
      'throw error',
    ],
    'no account pays for what only others were credited': [
      'await ledger.endShares(receiver, settlementId)',
      'undefined',
    ],
  }),
  ...guardsIn(`${folder}/judge.ts`, attacks, {
    'what a sweep paid counts for one of several': ['isOfAnother ? 0n : amount', 'amount'],
    'what a sweep paid counts where the earlier one has failed': [
      'before < settledBefore && (await isCounted({ from: before, below: settledBefore }))',
      'before < settledBefore',
    ],
  }),
  ...guardsIn('src/stores/postgres/channels/observeChannels.ts', ledger, {
    'what is claimed again after a reorg is credited once': ['undone.length > 0', 'false'],
  }),
  ...guardsIn('src/stores/postgres/channels/channelSweeps.ts', ledger, {
    'an account that could not pay for a payout comes behind others': ['s.passed_at nulls first, ', ''],
    'no account pays for a payout before its own part is due': [
      '(s.account_id = c.account_id or',
      '(true or',
    ],
    'what an account was credited since a payout stays its part': [
      's.last_credit <= $4::bigint and s.paid_by',
      's.paid_by',
    ],
    'a receiver is looked at while its payout can still fail': [
      "p.state <> 'failed' or",
      "p.state = 'none' or",
    ],
  }),
  ...guardsIn('src/stores/postgres/channels/channelLedger.ts', ledger, {
    'a channel whose voucher comes again is not retired': [
      "not v.is_live or excluded.verified_at > v.verified_at + interval '1 hour'",
      'false',
    ],
  }),
  ...guardsIn(`${folder}/depositJudge.ts`, attacks, {
    'a deposit by another authorization is none': ['isPaid(receipt) && isUsed(receipt)', 'isPaid(receipt)'],
  }),
]
