import { recentBlockhashesSysvar } from '../encoding/programs.js'
import { readTokenAccount, type TokenAccount } from '../encoding/tokenAccount.js'
import type { Rpc } from '../rpc/rpc.js'
import { countBlocksLeft } from './blocksLeft.js'
import { explainFailure, type FailureReason } from './explainFailure.js'
import type { Prepared } from './prepare.js'

/** What the cluster says of a payment. */
export interface Simulated {
  /** Why it would not take it, or null when it would succeed and move exactly what it says. */
  readonly failure: FailureReason | null
  /** For how many blocks more its blockhash can be used; null where that was not asked or is not told. */
  readonly blocksLeft: number | null
}

/** Asks the cluster about a payment, and for the age of its blockhash only where it is to be settled. */
export type Simulate = (
  prepared: Prepared,
  options: { readonly precedesSettle: boolean },
) => Promise<Simulated>

/** What one look at the cluster says; what is shaky may be a coincidence between two questions. */
interface Attempt extends Simulated {
  readonly isUnstable: boolean
}

// Between two questions others may move what the recipient has; what differs each time is no coincidence.
const maxAttempts = 3

/** Builds the rehearsal on a cluster. It is never shown our signature. */
export const createSimulate = (rpc: Rpc): Simulate => {
  const look = async (prepared: Prepared, precedesSettle: boolean): Promise<Attempt> => {
    const { transfer, transaction, unsigned } = prepared
    const { source, destination, mint } = transfer
    const [before, simulation] = await Promise.all([
      rpc.getAccounts([source, destination, mint, ...(precedesSettle ? [recentBlockhashesSysvar] : [])]),
      rpc.simulate(unsigned, [source, destination]),
    ])
    const [sourceBefore, destinationBefore, mintAccount, recentBlockhashes] = before
    const failure = simulation.succeeds ? null : explainFailure(simulation.error)
    if (failure !== null && !('isGeneral' in failure)) return untilStable(failure)
    if (mintAccount == null || mintAccount.owner !== transfer.program) {
      return untilStable({ reason: 'asset_not_deployed_contract' })
    }
    const received = readTokenAccount(destinationBefore)
    const broken = judgeAccounts(readTokenAccount(sourceBefore), received, prepared)
    if (broken !== null || !simulation.succeeds) return untilStable(broken ?? failure)
    const blocksLeft = countBlocksLeft(recentBlockhashes, transaction.blockhash)
    const gained = readTokenAccount(simulation.accounts[1])
    const gain = await judgeGain(transfer, { before: amountOf(received), simulated: amountOf(gained) })
    // A blockhash that can be used although it is not listed may be newer than the list.
    return { failure: gain.failure, blocksLeft, isUnstable: gain.isUnstable || blocksLeft === 0 }
  }

  /**
   * A token may keep a part of what is moved. Before and after the simulation others may pay the same recipient: then
   * the balance that the simulation began with lies between the two that are read around it.
   */
  const judgeGain = async (
    { destination, amount }: Prepared['transfer'],
    { before, simulated }: { readonly before: bigint; readonly simulated: bigint },
  ): Promise<Pick<Attempt, 'failure' | 'isUnstable'>> => {
    if (simulated - before === amount) return { failure: null, isUnstable: false }
    const [account] = await rpc.getAccounts([destination])
    const after = amountOf(readTokenAccount(account))
    const [least, most] = before < after ? [before, after] : [after, before]
    if (simulated - most <= amount && amount <= simulated - least) return { failure: null, isUnstable: false }
    return { failure: wrongGain, isUnstable: before !== after }
  }

  return async (prepared, { precedesSettle }) => {
    let seen = await look(prepared, precedesSettle)
    for (let looks = 1; looks < maxAttempts && seen.isUnstable; looks += 1) {
      seen = await look(prepared, precedesSettle)
    }
    return seen
  }
}

const untilStable = (failure: FailureReason | null): Attempt => ({
  failure,
  blocksLeft: null,
  isUnstable: false,
})

/** The accounts of the transfer as they are: who owns the source is the payer, a delegate of it is not. */
const judgeAccounts = (
  source: TokenAccount | null,
  destination: TokenAccount | null,
  { transfer: { authority, amount }, payTo }: Prepared,
): FailureReason | null => {
  if (source === null) return { reason: 'invalid_exact_svm_payload_transaction_sender_ata_not_found' }
  if (source.owner !== authority) return { reason: 'invalid_exact_svm_payload_signature_invalid' }
  if (destination === null) return { reason: 'invalid_exact_svm_payload_transaction_receiver_ata_not_found' }
  // An associated account can be given away.
  if (destination.owner !== payTo) return { reason: 'invalid_exact_svm_payload_recipient_mismatch' }
  if (source.isFrozen || destination.isFrozen) return { reason: 'account_blocked' }
  return source.amount < amount ? { reason: 'insufficient_funds' } : null
}

const amountOf = (account: TokenAccount | null): bigint => account?.amount ?? 0n

const wrongGain: FailureReason = {
  reason: 'invalid_exact_svm_payload_amount_mismatch',
  message: 'The recipient would not receive exactly the amount',
}
