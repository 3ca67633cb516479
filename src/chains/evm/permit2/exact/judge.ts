import type { Hex } from 'viem'
import type { Settlement } from '../../../../ports/settlementJournal.js'
import { isSameAddress } from '../../abi/address.js'
import { asHex } from '../../abi/words.js'
import { judgeExecuted } from '../../contracts/routerCalls.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { FailureReasons, SettlementJudge } from '../../transactions/settlementCall.js'
import { createPermitJudge, permitDetails } from '../judge.js'
import type { Permit } from '../payload.js'
import { judgeForeignExecution } from './foreignExecution.js'
import { encodePermitWords } from './payload.js'

export interface JudgedPermit {
  /** The payment's identity. */
  readonly id: string
  readonly permit: Omit<Permit, 'spender'>
  readonly router: Hex | null
}

const reasons: FailureReasons = {
  reverted: 'invalid_exact_evm_transaction_failed',
  void: 'permit2_invalid_nonce',
  unpaid: 'invalid_exact_evm_transfer_event_mismatch',
  expired: 'authorization_expired_unsettled',
}

/** Judges a payment by Permit2 from the token's Transfer, the nonce bitmap and the calldata that carried the permit. */
export const createJudge = (rpc: Rpc, { id, permit, router }: JudgedPermit): SettlementJudge => {
  const { token: asset, from, to, amount: value, nonce } = permit
  const transfer = { asset, from, to, value }
  return createPermitJudge(rpc, {
    id,
    nonce,
    transfer,
    words: encodePermitWords(permit),
    router,
    reasons,
    judgeTransaction: (receipt, transaction) =>
      router !== null && transaction.to !== null && isSameAddress(transaction.to, router)
        ? (judgeExecuted(receipt, { router, id, transfer }) ?? 'unpaid')
        : judgeForeignExecution(receipt, transaction, permit),
  })
}

/** Built from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, settlement: Settlement): SettlementJudge => {
  const { nonce, deadline, validAfter, router } = permitDetails.parse(settlement.details)
  const permit = {
    nonce,
    deadline,
    validAfter,
    token: asHex(settlement.asset),
    from: asHex(settlement.payer),
    to: asHex(settlement.payTo),
    amount: settlement.amount,
  }
  return createJudge(rpc, { id: settlement.authorizationId, permit, router })
}
