import { keccak256 } from 'viem'
import type { Logger } from '../../../../ports/logger.js'
import type { Recorder, SignedTransaction } from '../../../../ports/settlementJournal.js'
import type { SignerLanes } from '../../../../ports/signerLanes.js'
import { asHex } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Fees } from '../fees/fees.js'
import type { ContractCall } from '../settlementCall.js'
import type { Slot } from './noncePool.js'
import { advanceLane, readTransactionCount } from './transactionCount.js'

export interface LaneSending {
  readonly slot: Slot
  readonly call: ContractCall
  readonly gas: bigint
  readonly fees: Fees
  readonly recorders: readonly Recorder[]
}

/** `lost`: another instance took over these settlements; nothing was sent. */
export type SendResult =
  | { readonly sent: SignedTransaction & { readonly nonce: number } }
  | { readonly lost: readonly string[] }

/** Records, then sends. Throws only when nothing was recorded; returns the newest transaction. */
export type SendInLane = (sending: LaneSending) => Promise<SendResult>

export interface LaneDependencies {
  readonly network: string
  readonly chainId: number
  readonly rpc: Rpc
  readonly lanes: SignerLanes
  readonly logger: Logger
}

// Another program with the same key may use up a nonce; repeated use is a misconfiguration.
const maxAttempts = 3

/** Each transaction takes the next nonce of its account. */
export const createSendInLane = ({ network, chainId, rpc, lanes, logger }: LaneDependencies): SendInLane => {
  const record = async ({ slot, call, gas, fees, recorders }: LaneSending): Promise<SendResult> => {
    const { account } = slot
    let allocated = 0
    const answer = await lanes.record({ network, signer: account.address }, recorders, async (nonce) => {
      allocated = nonce
      // Never any native coin: the payer chose the contract.
      const bytes = await account.signTransaction({ chainId, nonce, gas, ...call, value: 0n, ...fees })
      return { transaction: keccak256(bytes), bytes }
    })
    if ('lost' in answer) return answer
    slot.onNonceAllocated(allocated)
    return { sent: { ...answer.recorded, nonce: allocated } }
  }

  return async (sending) => {
    const { account } = sending.slot
    const lane = { network, signer: account.address }
    let answer = await record(sending)
    for (let attempt = 1; 'sent' in answer; attempt++) {
      const { transaction, bytes } = answer.sent
      if ((await rpc.send(asHex(bytes))) !== 'nonce_used' || attempt === maxAttempts) return answer
      try {
        // Either mined, or displaced by a transaction of another program.
        if ((await rpc.getReceipt(asHex(transaction))) !== null) return answer
        logger.error({ ...lane, transaction }, 'nonce.used_externally')
        await advanceLane(lanes, lane, await readTransactionCount(rpc, account.address))
        // The displaced bytes can never be mined, and the contract executes the payment once in any case.
        const next = await record(sending)
        if ('lost' in next) return answer
        answer = next
      } catch (error) {
        logger.warn({ ...lane, transaction, error }, 'transaction.resend_failed')
        return answer
      }
    }
    return answer
  }
}
