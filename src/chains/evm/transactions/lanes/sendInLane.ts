import {
  type Hex,
  hexToBytes,
  parseSignature,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Logger } from '../../../../ports/logger.js'
import type { Lane, Recorder, SignedTransaction } from '../../../../ports/settlementJournal.js'
import type { SignerLanes, UrgentShare } from '../../../../ports/signerLanes.js'
import { asHex, keccak } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Fees } from '../fees/fees.js'
import type { ContractCall } from '../settlementCall.js'
import type { Slot } from './noncePool.js'

export interface LaneSending {
  readonly slot: Slot
  readonly call: ContractCall
  readonly gas: bigint
  readonly fees: Fees
  readonly recorders: readonly Recorder[]
  readonly urgentShares: readonly UrgentShare[]
  /** A second transaction would pay again: it is sent with its first nonce or not at all. */
  readonly isRepeatable: boolean
}

/** `lost`: another instance took over these settlements; nothing was sent. */
type SendResult =
  | { readonly sent: SignedTransaction & { readonly nonce: number } }
  | { readonly lost: readonly string[] }

/** Records, then sends. Throws only when nothing was recorded; returns the newest transaction. */
type SendInLane = (sending: LaneSending) => Promise<SendResult>

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
  const record = async (sending: LaneSending): Promise<SendResult> => {
    const { slot, call, gas, fees, recorders, urgentShares } = sending
    const { account } = slot
    let allocated = 0
    const sign = async (nonce: number) => {
      allocated = nonce
      // It carries no native coin: the payer chose the contract.
      return await signTransaction(account, { chainId, nonce, gas, ...call, value: 0n, ...fees })
    }
    const answer = await lanes.record({ network, signer: account.address }, recorders, sign, urgentShares)
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
        // It is mined, or displaced by a transaction of another program.
        if ((await rpc.getReceipt(asHex(transaction))) !== null) return answer
        logger.error({ ...lane, transaction }, 'nonce.used_externally')
        await advanceLane(lanes, lane, await readTransactionCount(rpc, account.address))
        if (sending.isRepeatable) return answer
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

/** As the account signs itself, with hashes by WebAssembly: a batch has tens of thousands of bytes, which are hashed twice. */
export const signTransaction = async (
  account: Pick<PrivateKeyAccount, 'sign'>,
  transaction: TransactionSerializable,
): Promise<SignedTransaction & { readonly bytes: Hex }> => {
  const hash = keccak(hexToBytes(serializeTransaction(transaction)))
  const bytes = serializeTransaction(transaction, parseSignature(await account.sign({ hash })))
  return { transaction: keccak(hexToBytes(bytes)), bytes }
}

/** Transactions of an account that are mined. */
interface TransactionCount {
  readonly count: number
  /** Whether a second healthy endpoint has as many or more. */
  readonly isAgreed: boolean
}

/** The highest count that two healthy endpoints have; one endpoint's where no other answers. */
export const readTransactionCount = async (rpc: Rpc, address: Hex): Promise<TransactionCount> => {
  const witnesses = rpc.listWitnesses()
  const asked = witnesses.length < 2 ? [rpc] : witnesses.map((witness) => rpc.viewOf(witness))
  const answers = await Promise.allSettled(asked.map((each) => each.getTransactionCount(address, 'latest')))
  const counts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const [highest, second] = counts.sort((left, right) => right - left)
  if (second !== undefined) return { count: second, isAgreed: true }
  return { count: highest ?? (await rpc.getTransactionCount(address, 'latest')), isAgreed: false }
}

/** How far one endpoint alone may move a lane at once: its gaps stay small enough to be filled. */
export const maxUnconfirmedJump = 64

/** Moves a lane to what the chain has used; by one endpoint alone in bounded steps, once the lane is in use. */
export const advanceLane = async (
  lanes: SignerLanes,
  lane: Lane,
  { count, isAgreed }: TransactionCount,
): Promise<void> => {
  const next = await lanes.readNext(lane)
  const isBounded = !isAgreed && next > 0
  await lanes.advance(lane, isBounded ? Math.min(count, next + maxUnconfirmedJump) : count)
}
