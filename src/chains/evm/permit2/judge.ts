import { type Abi, type Hex, toFunctionSelector } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import { addressField, wholeNumberField } from '../abi/address.js'
import { readWord } from '../abi/words.js'
import { hasExecuted, judgeExecuted } from '../contracts/routerCalls.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Receipt } from '../rpc/wireShapes.js'
import { judgeReceipt } from '../tokens/erc20.js'
import { findReceipt, type ReceiptPolicy } from '../transactions/receipts/findReceipt.js'
import type { Judgement, SettlementJudge } from '../transactions/settlementCall.js'
import { encodeBitmapCall, hasNonce } from './call.js'
import { findUse, type PermitExecution } from './findUse.js'
import { type Permit, permit2Address } from './payload.js'

/** Judges a payment by Permit2 from the token's Transfer, the nonce bitmap and what carried the permit. */
export const createPermitJudge = (rpc: Rpc, execution: PermitExecution): SettlementJudge => {
  const { id, nonce, transfer, words, router, sender = null, reasons } = execution
  // Transactions of ours that used the nonce without a transfer; no event of Permit2 says so.
  const ownUses = new Map<Hex, { readonly isShared: boolean }>()

  const judgeOwn = (receipt: Receipt, isShared: boolean): { judgement: Judgement; isUse: boolean } => {
    // The router of the row may not be today's, whose batches are known as such.
    if (!isShared && !hasExecuted(receipt, router)) {
      const judgement = judgeReceipt(receipt, transfer)
      return { judgement, isUse: judgement === 'unpaid' }
    }
    if (!receipt.status) return { judgement: 'reverted', isUse: false }
    // In a shared transaction, only the router's event proves a call.
    const executed = router === null ? null : judgeExecuted(receipt, { router, id, transfer })
    return { judgement: executed ?? 'unpaid', isUse: executed === 'unpaid' }
  }

  const isUsedUnpaid = async (view: Rpc, policy: ReceiptPolicy): Promise<boolean> => {
    for (const [transaction, { isShared }] of ownUses) {
      const receipt = await findReceipt(view, transaction, policy)
      if (receipt !== null && judgeOwn(receipt, isShared).isUse) return true
    }
    return false
  }

  return {
    judgeReceipt: (receipt, isShared) => {
      const { judgement, isUse } = judgeOwn(receipt, isShared)
      if (isUse) ownUses.set(receipt.transactionHash, { isShared })
      return judgement
    },
    findExecution: async ({ view = rpc, ...query }) => {
      const { at, policy } = query
      const data = encodeBitmapCall({ from: transfer.from, nonce })
      const answer = await view.call({ at, to: permit2Address, data })
      const bitmap = answer.succeeds ? readWord(answer.value) : null
      if (bitmap === null) return { state: 'unknown' }
      if (!hasNonce(bitmap, nonce)) return { state: 'unused' }
      if (await isUsedUnpaid(view, policy)) return { state: 'void' }
      return await findUse(view, execution, query)
    },
    isOwnCall: ({ data }) => data.toLowerCase().includes(words),
    sender,
    reasons,
  }
}

/** In the journal's details; `method` tells the rows of this method from those of others, which have none. */
export const permitDetails = z.object({
  method: z.literal('permit2'),
  nonce: wholeNumberField,
  deadline: wholeNumberField,
  validAfter: wholeNumberField,
  /** The router when the row was written: it changes with the signers. Absent in rows from before there was one. */
  router: addressField.nullish().transform((router) => router ?? null),
})

export const describePermit = (
  { nonce, deadline, validAfter }: Pick<Permit, 'nonce' | 'deadline' | 'validAfter'>,
  router: Hex | null,
) => ({
  method: 'permit2',
  nonce: String(nonce),
  deadline: String(deadline),
  validAfter: String(validAfter),
  router,
})

/** Whether a journal row is of a payment by Permit2. */
export const isPermitRow = ({ details }: Pick<Settlement, 'details'>): boolean => details.method === 'permit2'

// The words of an EIP-2612 permit before the arguments of `settle`, in characters.
const skippedCharacters: Readonly<Record<string, number>> = { settle: 0, settleWithPermit: 5 * 64 }

/** Whether calldata, in lower case, calls a proxy with these words: one that succeeds executed the permit. */
export const isDirectCall = (proxyAbi: Abi, calldata: string, words: string): boolean =>
  proxyAbi.some((item) => {
    const skipped = item.type === 'function' ? skippedCharacters[item.name] : undefined
    if (item.type !== 'function' || skipped === undefined) return false
    const selector = toFunctionSelector(item)
    return calldata.startsWith(selector) && calldata.startsWith(words, selector.length + skipped)
  })
