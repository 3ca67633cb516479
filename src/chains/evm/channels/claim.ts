import { type Hex, keccak256 } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { larger, numberWord } from '../abi/words.js'
import { structureRules } from '../explanations.js'
import { readOccasion, toRefusal } from '../paymentMethod.js'
import { tryCall } from '../rpc/rpc.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { names as isNamed } from './checks.js'
import {
  type ChannelTotals,
  decodeTotals,
  encodeClaim,
  hashChannel,
  hashClaims,
  hashVoucher,
  planTotalsRead,
  settlementAddress,
  type VoucherClaim,
} from './contract.js'
import { createRequestJudge, describeRequest, type JudgedRequest } from './judge.js'
import { type ChannelDependencies, type Prepare, readListed } from './prepared.js'
import { explainRevert } from './reverts.js'
import { findSigner, findVoucherSigner, isZero, normalizeKeySignature } from './signatures.js'

/* A claim credits the receiver with what vouchers allow. One bad row reverts all: it is named, and never left out. */

const ruleNames = [...structureRules, 'channel_terms', 'authorizer_signature', 'channel_state'] as const

/** A row with its channel's id on this network. */
export interface Row extends VoucherClaim {
  readonly channelId: Hex
}

export const toRows = (claims: readonly VoucherClaim[], chainId: number): readonly Row[] =>
  claims.map((claim) => ({
    ...claim,
    signature: normalizeKeySignature(claim.signature),
    channelId: hashChannel(chainId, claim.config),
  }))

/** By its rows, in any order: the same claim is one settlement, whoever asks for it. */
export const formatClaimId = (network: string, rows: readonly Row[]): string => {
  const words = rows.map(({ channelId, totalClaimed }) => channelId.slice(2) + numberWord(totalClaimed))
  return `${network}/${settlementAddress}/claim/${keccak256(`0x${words.sort().join('')}`)}`.toLowerCase()
}

const nameRow = (index: number, { channelId }: Row, problem: string): string =>
  `payload.claims.${index} (channel ${channelId}): ${problem}`

/*
 * A row takes about 17k gas, its calldata 5k more, and a wallet contract adds its check. The cap of many rows exceeds that of any
 * other call: a signer whose balance does not cover it is refused the claim, and nothing else. Unused gas is not paid.
 */
const baseGas = 300_000n
const gasPerRow = 40_000n
const reorgGasPerRow = 5_000n

export const gasOf = (rows: readonly unknown[]): Pick<SettlementCall, 'gasCap' | 'reorgGas'> => ({
  gasCap: baseGas + gasPerRow * BigInt(rows.length),
  reorgGas: 30_000n + reorgGasPerRow * BigInt(rows.length),
})

/** Who signed a batch of rows, and whether contracts of payers run beside. */
export interface ClaimCheck {
  readonly totals: readonly ChannelTotals[]
  readonly isWalletAsked: boolean
}

/** Why rows cannot be claimed by one signature; what the contract would not say by row. */
export const checkRows = async (
  { rpc, network, contractReader }: ChannelDependencies,
  rows: readonly Row[],
  { signature, payTo }: { readonly signature: Hex | null; readonly payTo: string },
): Promise<ClaimCheck | RevertReason> => {
  const { chainId } = network
  const authorizer = rows[0]?.config.receiverAuthorizer
  if (authorizer === undefined) return { totals: [], isWalletAsked: false }
  for (const [index, row] of rows.entries()) {
    const { config } = row
    if (!isNamed(payTo, config.receiver)) {
      const message = nameRow(index, row, 'its receiver is not payTo of the requirements')
      return { reason: 'invalid_batch_settlement_evm_receiver_mismatch', message }
    }
    if (!isListed(network.tokens, config.token)) {
      const message = nameRow(index, row, 'its token is not settled by this facilitator')
      return { reason: 'unsupported_asset', message }
    }
    if (!isSameAddress(config.receiverAuthorizer, authorizer)) {
      const message = nameRow(
        index,
        row,
        `its receiverAuthorizer is not ${authorizer}, which the first row has`,
      )
      return { reason: 'invalid_batch_settlement_evm_authorizer_address_mismatch', message }
    }
  }
  if (signature === null) return { reason: 'invalid_batch_settlement_evm_authorizer_not_configured' }
  const requester = { name: `payTo ${payTo}`, site: null }
  const asking = { rpc, reader: contractReader, requester }
  const digest = hashClaims(chainId, rows)
  const signer = await findSigner(asking, { signer: authorizer, digest, signature })
  if (signer === null) return { reason: 'invalid_batch_settlement_evm_claim_authorizer_signature' }

  const read = planTotalsRead(rows.map(({ channelId }) => channelId))
  const totals = decodeTotals(await tryCall(rpc, read), rows.length)
  if (totals === null) return { reason: 'invalid_batch_settlement_evm_rpc_read_failed' }
  let isWalletAsked = signer === 'contract'
  for (const [index, row] of rows.entries()) {
    const state = totals[index] ?? { balance: 0n, totalClaimed: 0n }
    // The contract skips it, and reads nothing of it.
    if (row.totalClaimed <= state.totalClaimed) continue
    const problem = findRowProblem(row, state)
    if (problem !== null) {
      const message = nameRow(index, row, problem)
      return { reason: 'invalid_batch_settlement_evm_claim_simulation_failed', message }
    }
    const voucher = {
      digest: hashVoucher(chainId, row.channelId, row.maxClaimable),
      signature: row.signature,
    }
    // A payer's code is run by the simulation, once for all rows.
    if (isZero(row.config.payerAuthorizer) && (await rpc.getCode(row.config.payer)) !== '0x') {
      isWalletAsked = true
      continue
    }
    if ((await findVoucherSigner(asking, row.config, voucher)) === null) {
      const message = nameRow(index, row, 'its voucher is not signed by its payer')
      return { reason: 'invalid_batch_settlement_evm_claim_simulation_failed', message }
    }
  }
  return { totals, isWalletAsked }
}

const isListed = (tokens: readonly { readonly address: string }[], token: Hex): boolean =>
  tokens.some(({ address }) => isNamed(address, token))

const findRowProblem = ({ totalClaimed, maxClaimable }: Row, { balance }: ChannelTotals): string | null => {
  if (totalClaimed > maxClaimable) return `claims ${totalClaimed} of a ceiling of ${maxClaimable}`
  return totalClaimed > balance ? `claims ${totalClaimed} of a balance of ${balance} on this network` : null
}

/** The highest row of each channel: that is what its total has reached afterwards. */
const highestRows = (rows: readonly Row[]): Extract<JudgedRequest, { readonly type: 'claim' }>['rows'] => {
  const highest = new Map<Hex, bigint>()
  for (const { channelId, totalClaimed } of rows) {
    highest.set(channelId, larger(totalClaimed, highest.get(channelId) ?? 0n))
  }
  return [...highest].map(([channelId, total]) => ({ channelId, total }))
}

/** What the claim adds for the receiver in the token of which it adds most rows. */
const findGain = (rows: readonly Row[], totals: readonly ChannelTotals[]) => {
  const gains = new Map<Hex, { rows: number; amount: bigint }>()
  for (const [index, { config, totalClaimed }] of rows.entries()) {
    const gain = totalClaimed - (totals[index]?.totalClaimed ?? 0n)
    const known = gains.get(config.token) ?? { rows: 0, amount: 0n }
    if (gain > 0n) gains.set(config.token, { rows: known.rows + 1, amount: known.amount + gain })
  }
  const [most] = [...gains].sort(([, left], [, right]) => right.rows - left.rows)
  return most === undefined ? null : { token: most[0], amount: most[1].amount }
}

export const createPrepareClaim = (dependencies: ChannelDependencies): Prepare => {
  const { network, rpc, clock } = dependencies
  return async (payment, phase, trace) => {
    trace?.expect(ruleNames)
    const reading = await readListed(dependencies, payment, ['claim'], trace)
    if ('refused' in reading) return reading
    const { proof, token } = reading.prepared
    const { payTo } = payment.requirements
    const rows = toRows(proof.claims, network.chainId)
    const checked = await checkRows(dependencies, rows, { signature: proof.signature, payTo })
    trace?.note('channel_state', 'reason' in checked ? checked : null)
    const [first] = rows
    if ('reason' in checked) return { refused: toRefusal(first?.config.receiver ?? null, checked) }
    if (first === undefined)
      return { refused: toRefusal(null, { reason: 'invalid_batch_settlement_evm_claim_payload' }) }
    const { receiver } = first.config
    const gain = findGain(rows, checked.totals)
    const amount = gain?.amount ?? 0n
    const judged: JudgedRequest = { type: 'claim', rows: highestRows(rows) }
    const call: SettlementCall = {
      to: settlementAddress,
      data: encodeClaim(rows, proof.signature ?? '0x'),
      id: formatClaimId(network.network, rows),
      payer: receiver,
      payTo: receiver,
      amount,
      ...gasOf(rows),
      deadline: neverExpires,
      batchedBy: null,
      sender: null,
      runsPayerCode: checked.isWalletAsked,
      reads: [],
      probe: null,
      explainRevert: (failure) =>
        explainRevert(failure, { fallback: 'invalid_batch_settlement_evm_claim_simulation_failed' }),
      findContradiction: () => null,
      isTooEarly: () => false,
      judge: createRequestJudge(rpc, judged),
    }
    return {
      prepared: {
        candidate: {
          ...readOccasion(clock, phase),
          payment,
          token: { address: gain?.token ?? token.address },
          recheck: () => null,
        },
        call,
        details: describeRequest(judged),
        isWalletAsked: false,
        authorizedAmount: amount,
        received: 0n,
      },
    }
  }
}

/** Unix seconds that no block time reaches: vouchers do not expire. */
export const neverExpires = 2n ** 48n - 1n
