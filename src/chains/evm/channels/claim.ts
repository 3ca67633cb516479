import { setImmediate } from 'node:timers/promises'
import { type Hex, keccak256 } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { numberWord } from '../abi/words.js'
import { structureRules } from '../explanations.js'
import { type Phase, readOccasion, toRefusal } from '../paymentMethod.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { names as isNamed } from './checks.js'
import {
  type ChannelConfig,
  encodeClaim,
  hashChannel,
  hashClaims,
  hashVoucher,
  settlementAddress,
  type VoucherClaim,
} from './contract.js'
import { describeRequest, type JudgedRequest } from './judge.js'
import { type ChannelDependencies, type Prepare, readListed } from './prepared.js'
import { createRequestCall } from './requestCall.js'
import { explainRevert } from './reverts.js'
import { findSigner, findVoucherKey, isZero, normalizeKeySignature } from './signatures.js'
import { type ChannelTotals, decodeTotals, planTotalsRead } from './states.js'

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

/** By its rows, in any order: the same claim by any caller is one settlement. */
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

/** Which rows a claim would raise, and whether contracts of payers run with it. */
export interface ClaimCheck {
  /** The contract skips the others, which are reached. */
  readonly raised: readonly { readonly row: Row; readonly gain: bigint }[]
  readonly isWalletAsked: boolean
  /** It is that of the receiverAuthorizer; null where there are no rows. */
  readonly signature: Hex | null
}

/** Signatures are recovered synchronously: other requests get a turn after so many. */
const rowsPerTurn = 10

/** Why rows cannot be claimed by one signature; what the contract would not say by row. */
export const checkRows = async (
  { rpc, network, contractReader, custody }: ChannelDependencies,
  rows: readonly Row[],
  {
    signature,
    payTo,
    requester,
    caller,
  }: Pick<Phase, 'requester' | 'caller'> & {
    /** Null: this facilitator signs, where the rows are delegated to it. */
    readonly signature: Hex | null
    readonly payTo: string
  },
): Promise<ClaimCheck | RevertReason> => {
  const { chainId } = network
  const authorizer = rows[0]?.config.receiverAuthorizer
  if (authorizer === undefined) return { raised: [], isWalletAsked: false, signature: null }
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
  const unowned = await custody.findUnowned(rows, caller)
  if (unowned !== null) {
    const message = nameRow(unowned.index, unowned.channel, 'it is not bound to the account of the caller')
    return { reason: 'invalid_batch_settlement_evm_authorizer_address_mismatch', message }
  }
  if (signature === null && !custody.isDelegated({ receiverAuthorizer: authorizer })) {
    return { reason: 'invalid_batch_settlement_evm_authorizer_not_configured' }
  }
  const digest = hashClaims(chainId, rows)
  const asking = { rpc, reader: contractReader, requester }
  const signer =
    signature === null ? 'key' : await findSigner(asking, { signer: authorizer, digest, signature })
  if (signer === null) return { reason: 'invalid_batch_settlement_evm_claim_authorizer_signature' }

  const totals = await readTotals(rpc, rows)
  if (totals === null) return { reason: 'invalid_batch_settlement_evm_rpc_read_failed' }
  const raised: { readonly row: Row; readonly gain: bigint; readonly index: number }[] = []
  for (const [index, row] of rows.entries()) {
    const state = totals[index] ?? { balance: 0n, totalClaimed: 0n }
    const gain = row.totalClaimed - state.totalClaimed
    // The contract skips it, and reads nothing of it.
    if (gain <= 0n) continue
    const problem = findRowProblem(row, state)
    if (problem !== null) {
      const message = nameRow(index, row, problem)
      return { reason: 'invalid_batch_settlement_evm_claim_simulation_failed', message }
    }
    raised.push({ row, gain, index })
  }

  const wallets = await findWallets(
    rpc,
    raised.map(({ row }) => row.config),
  )
  for (const [count, { row, index }] of raised.entries()) {
    // A payer's code is run by the simulation, once for all rows.
    if (wallets.has(row.config.payer) && isZero(row.config.payerAuthorizer)) continue
    if (count % rowsPerTurn === rowsPerTurn - 1) await setImmediate()
    const voucher = {
      digest: hashVoucher(chainId, row.channelId, row.maxClaimable),
      signature: row.signature,
    }
    if ((await findVoucherKey(row.config, voucher)) === null) {
      const message = nameRow(index, row, 'its voucher is not signed by its payer')
      return { reason: 'invalid_batch_settlement_evm_claim_simulation_failed', message }
    }
  }
  return {
    raised,
    isWalletAsked: signer === 'contract' || wallets.size > 0,
    signature: signature ?? (await custody.signClaims(rows, caller)),
  }
}

/** Null: no node that answers has the settlement. */
const readTotals = async (
  rpc: Rpc,
  rows: readonly Row[],
  at?: bigint,
): Promise<readonly ChannelTotals[] | null> => {
  const read = planTotalsRead(rows.map(({ channelId }) => channelId))
  return decodeTotals(await tryCall(rpc, at === undefined ? read : { at, ...read }), rows.length)
}

/** Payers with code that sign vouchers themselves. */
const findWallets = async (
  rpc: Pick<Rpc, 'findWithCode'>,
  configs: readonly ChannelConfig[],
): Promise<ReadonlySet<Hex>> => {
  const asked = configs.filter(({ payerAuthorizer }) => isZero(payerAuthorizer)).map(({ payer }) => payer)
  return await rpc.findWithCode([...new Set(asked)])
}

const isListed = (tokens: readonly { readonly address: string }[], token: Hex): boolean =>
  tokens.some(({ address }) => isNamed(address, token))

const findRowProblem = ({ totalClaimed, maxClaimable }: Row, { balance }: ChannelTotals): string | null => {
  if (totalClaimed > maxClaimable) return `claims ${totalClaimed} of a ceiling of ${maxClaimable}`
  return totalClaimed > balance ? `claims ${totalClaimed} of a balance of ${balance} on this network` : null
}

type Raised = ClaimCheck['raised']

/** The highest row of each channel: that is what its total has reached afterwards. */
const highestRows = (raised: Raised): Raised => {
  const highest = new Map<Hex, Raised[number]>()
  for (const each of raised) {
    const known = highest.get(each.row.channelId)
    if (known === undefined || known.gain < each.gain) highest.set(each.row.channelId, each)
  }
  return [...highest.values()]
}

/** What the claim adds for the receiver in the token of which it adds most rows. */
const findGain = (highest: Raised) => {
  const gains = new Map<Hex, { rows: number; amount: bigint }>()
  for (const { row, gain } of highest) {
    const known = gains.get(row.config.token) ?? { rows: 0, amount: 0n }
    gains.set(row.config.token, { rows: known.rows + 1, amount: known.amount + gain })
  }
  const [most] = [...gains].sort(([, left], [, right]) => right.rows - left.rows)
  return most === undefined ? null : { token: most[0], amount: most[1].amount }
}

export const createPrepareClaim = (dependencies: ChannelDependencies): Prepare => {
  const { network, rpc, clock } = dependencies

  /** Whether all rows are reached in a block that has the confirmations which an own claim would wait for. */
  const isReachedDeep = async (rows: readonly Row[]): Promise<boolean> => {
    const depth = BigInt(network.confirmations - 1)
    if (depth === 0n) return true
    const head = await rpc.getBlock('latest')
    const at = head === null || head.number < depth ? null : head.number - depth
    const totals = at === null ? null : await readTotals(rpc, rows, at)
    return rows.every(({ totalClaimed }, index) => totalClaimed <= (totals?.[index]?.totalClaimed ?? -1n))
  }

  return async (payment, phase, trace) => {
    trace?.expect(ruleNames)
    const reading = await readListed(dependencies, payment, ['claim'], trace)
    if ('refused' in reading) return reading
    const { proof, token } = reading.prepared
    const { payTo } = payment.requirements
    const rows = toRows(proof.claims, network.chainId)
    const [first] = rows
    if (first === undefined)
      return { refused: toRefusal(null, { reason: 'invalid_batch_settlement_evm_claim_payload' }) }
    const { receiver } = first.config
    const { signature } = proof
    const checked = await checkRows(dependencies, rows, { ...phase, signature, payTo })
    const isReached = !('reason' in checked) && checked.raised.length === 0
    const isEarly = isReached && !(await isReachedDeep(rows))
    const problem = 'reason' in checked ? checked : isEarly ? unsettled : null
    trace?.note('channel_state', problem)
    if ('reason' in checked || isEarly) return { refused: toRefusal(receiver, problem ?? unsettled) }
    const highest = highestRows(checked.raised)
    const gain = findGain(highest)
    const amount = gain?.amount ?? 0n
    const judged: JudgedRequest = {
      type: 'claim',
      rows: highest.map(({ row: { channelId, totalClaimed: total } }) => ({ channelId, total })),
    }
    const call = createRequestCall(dependencies, judged, {
      data: isReached ? '0x' : encodeClaim(rows, checked.signature ?? '0x'),
      id: formatClaimId(network.network, rows),
      payer: receiver,
      payTo: receiver,
      amount,
      ...gasOf(rows),
      runsPayerCode: checked.isWalletAsked,
      // Keys of the payers decide, and ours, so that no code of others runs beside other claims.
      ...(signature === null && rows.every(({ config }) => !isZero(config.payerAuthorizer))
        ? { batchedBy: 'any', parts: rows.length }
        : {}),
      explainRevert: (failure) =>
        explainRevert(failure, { fallback: 'invalid_batch_settlement_evm_claim_simulation_failed' }),
    })
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
        ...(isReached ? { isReached: true } : {}),
      },
    }
  }
}

const unsettled = {
  reason: 'invalid_batch_settlement_evm_claim_simulation_failed',
  message: 'Every row is claimed in a block that has too few confirmations yet; retry',
} as const
