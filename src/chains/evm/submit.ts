import { keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Logger } from '../../ports/logger.js'
import type { Recorder, SignedTransaction } from '../../ports/settlementJournal.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { Fees } from './fees.js'
import { asHex } from './hex.js'
import type { Rpc } from './rpc.js'
import type { Transfer } from './transfer.js'

/** What is submitted, by whom and at which price. */
export interface Submission {
  readonly account: PrivateKeyAccount
  readonly transfer: Pick<Transfer, 'to' | 'data'>
  readonly gas: bigint
  readonly fees: Fees
}

/** Sends transactions of our own on one network. */
export interface Submitter {
  /** Records, then sends. Throws only when nothing was recorded; answers the newest transaction. */
  submit(submission: Submission, recorder: Recorder): Promise<SignedTransaction>
}

// A number can be used up by another program that holds the same key; more than this is not an accident.
const maxAttempts = 3

/** Builds the submitter of one network. */
export const createSubmitter = (
  { network, chainId }: { readonly network: string; readonly chainId: number },
  rpc: Rpc,
  lanes: SignerLanes,
  logger: Logger,
): Submitter => ({
  submit: async ({ account, transfer, gas, fees }, recorder) => {
    const lane = { network, signer: account.address }
    const sign = async (nonce: number): Promise<SignedTransaction> => {
      const bytes = await account.signTransaction({
        chainId,
        nonce,
        gas,
        to: transfer.to,
        data: transfer.data,
        // Whatever the payer asks to be called, it never gets native coin from us.
        value: 0n,
        ...fees,
      })
      return { transaction: keccak256(bytes), bytes }
    }

    let signed = await recorder.recordInLane(lane, sign)
    for (let attempt = 1; attempt < maxAttempts; attempt++) {
      const answer = await rpc.send(asHex(signed.bytes))
      if (answer !== 'nonce_used') return signed
      try {
        // Mined already, or displaced by a transaction that this service did not send?
        if ((await rpc.getReceipt(asHex(signed.transaction))) !== null) return signed
        logger.error({ ...lane, transaction: signed.transaction }, 'lane.number_used_elsewhere')
        await lanes.advance(lane, await rpc.getTransactionCount(account.address, 'latest'))
        // The displaced bytes can never be mined, and the token lets the authorization act once in any case.
        signed = await recorder.recordInLane(lane, sign)
      } catch (error) {
        logger.warn({ ...lane, transaction: signed.transaction, error }, 'lane.resend_failed')
        return signed
      }
    }
    await rpc.send(asHex(signed.bytes))
    return signed
  },
})
