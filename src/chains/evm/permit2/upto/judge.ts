import type { Hex } from 'viem'
import type { Settlement } from '../../../../ports/settlementJournal.js'
import { addressField, isSameAddress } from '../../abi/address.js'
import { asHex } from '../../abi/words.js'
import { judgeExecuted } from '../../contracts/routerCalls.js'
import type { Rpc } from '../../rpc/rpc.js'
import { judgeReceipt } from '../../tokens/erc20.js'
import type { FailureReasons, SettlementJudge } from '../../transactions/settlementCall.js'
import { createPermitJudge, describePermit, isDirectCall, permitDetails } from '../judge.js'
import { encodeChargeWords, type UptoPermit, uptoProxyAbi, uptoProxyAddress } from './payload.js'

interface JudgedCharge {
  /** The payment's identity. */
  readonly id: string
  readonly permit: Omit<UptoPermit, 'spender'>
  readonly charge: bigint
  /** Null where an account of ours is the facilitator. */
  readonly router: Hex | null
}

const reasons: FailureReasons = {
  reverted: 'invalid_upto_evm_transaction_failed',
  void: 'permit2_invalid_nonce',
  unpaid: 'invalid_exact_evm_transfer_event_mismatch',
  expired: 'authorization_expired_unsettled',
}

/**
 * Judges a charge. Only the facilitator that the witness names can execute it: any other use of the nonce is an
 * invalidation or another permit with the same nonce.
 */
export const createJudge = (rpc: Rpc, { id, permit, charge, router }: JudgedCharge): SettlementJudge => {
  const { token: asset, from, to, nonce } = permit
  const transfer = { asset, from, to, value: charge }
  const words = encodeChargeWords(permit, charge)
  return createPermitJudge(rpc, {
    id,
    nonce,
    transfer,
    words,
    router,
    sender: router === null ? permit.facilitator : null,
    reasons,
    judgeTransaction: (receipt, transaction) => {
      if (router !== null) return judgeExecuted(receipt, { router, id, transfer }) ?? 'unpaid'
      const isDirect =
        transaction.to !== null &&
        isSameAddress(transaction.to, uptoProxyAddress) &&
        isDirectCall(uptoProxyAbi, transaction.input.toLowerCase(), words)
      return isDirect && judgeReceipt(receipt, transfer) === 'paid' ? 'paid' : 'unpaid'
    },
  })
}

const detailsShape = permitDetails.extend({ facilitator: addressField })

export const describeCharge = (permit: UptoPermit, router: Hex | null) => ({
  ...describePermit(permit, router),
  facilitator: permit.facilitator,
})

/** Builds the judge from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, settlement: Settlement): SettlementJudge => {
  const { nonce, deadline, validAfter, facilitator, router } = detailsShape.parse(settlement.details)
  const permit = {
    nonce,
    deadline,
    validAfter,
    facilitator,
    token: asHex(settlement.asset),
    from: asHex(settlement.payer),
    to: asHex(settlement.payTo),
    amount: settlement.authorizedAmount,
  }
  return createJudge(rpc, { id: settlement.authorizationId, permit, charge: settlement.amount, router })
}
