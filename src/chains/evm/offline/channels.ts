import { z } from 'zod'
import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { SandboxChannelChange, SandboxChannels } from '../../../ports/sandbox.js'
import type { Fields } from '../../../protocol/fields.js'
import { isFields } from '../../../protocol/fields.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { OfflineContract, OfflinePhase, OfflineScheme } from '../../../schemes/offlineScheme.js'
import type { Refusal, Scheme } from '../../../schemes/scheme.js'
import { hasSharedOutcome } from '../../../schemes/sharedOutcome.js'
import { addressField, hashField, readAddress, wholeNumberField } from '../abi/address.js'
import { describeState } from '../channels/checks.js'
import { createPrepareClaim, toRows } from '../channels/claim.js'
import { noCustody } from '../channels/custody.js'
import { choosePull, createPrepareDeposit } from '../channels/deposit.js'
import { type ChannelProof, readChannelProof } from '../channels/payload.js'
import type { ChannelDependencies, Prepare } from '../channels/prepared.js'
import { createPrepareRefund } from '../channels/refund.js'
import { channelExtra, continues, createIdentify } from '../channels/scheme.js'
import { isZero } from '../channels/signatures.js'
import { createChannelSnapshots } from '../channels/snapshots.js'
import { createChannelStreams } from '../channels/streams.js'
import { createPrepareSweep } from '../channels/sweep.js'
import { createVerifyVoucher } from '../channels/voucher.js'
import { toDate, toRefusal } from '../paymentMethod.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { type EvmOfflineNetwork, type OfflineReading, phaseOf } from './offlineNetwork.js'
import { createSandboxRpc } from './sandboxSettlement.js'

/* `batch-settlement`, by the rules of production: what they read of a chain, the sandbox's database answers. */

interface ChannelStores {
  readonly channels: SandboxChannels
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Channels are forgotten after as long. */
const windowMs = 7 * 86_400_000

/**
 * A channel that was forgotten can be opened again, and then be claimed up to the same total, or refunded with the same nonce: that
 * is another settlement, which comes a window later at least. An authorization of a deposit stays spent.
 */
const inWindow = (id: string, now: Date): string => `${id}/${Math.floor(now.getTime() / windowMs)}`

export const createOfflineChannels = (
  offline: EvmOfflineNetwork,
  { channels, clock, logger }: ChannelStores,
): OfflineScheme => {
  const { id: network, chainId, tokens } = offline
  const rpc = createSandboxRpc({ network, channels, logger })
  const identifyForever = createIdentify({ network: { network, chainId } })
  const nameOf = (id: string, { proof: { type } }: Payment, now: Date): string =>
    type === 'deposit' ? id : inWindow(id, now)

  const shared = {
    network: {
      network,
      chainId,
      confirmations: 1,
      tokens: offline.listTokens().map(({ asset }) => ({ address: readAddress(asset) ?? '0x' })),
    },
    custody: noCustody,
    channelLedger: null,
  } as const

  const dependenciesOf = (payment: Payment, now: Date): ChannelDependencies => ({
    ...shared,
    family: { smartWalletFactories: [], deploysSmartWallets: false },
    rpc,
    // Accounts have no code, so that none is asked.
    contractReader: { network, run: async () => null },
    tokens: { find: (address) => tokens.find(address, payment) },
    clock: { now: () => now },
  })

  /** The database answers each time. */
  const snapshots = createChannelSnapshots(rpc, { maxAgeMs: 0, maxRise: 0n }, clock)

  const readCall = async (
    payment: Payment,
    prepare: Prepare,
    { now, isForSettle, trace }: OfflinePhase,
  ): Promise<OfflineReading> => {
    const preparation = await prepare(payment, phaseOf(isForSettle), trace)
    if ('refused' in preparation) return preparation.refused
    const { call, details, authorizedAmount, received, snapshot, isReached } = preparation.prepared
    const foreign = await findRevert(payment)
    trace?.note('simulation', foreign)
    if (foreign !== null) return toRefusal(call.payer, foreign)
    const change = toChange(payment, chainId)
    return {
      isValid: true,
      payer: call.payer,
      authorizationId: nameOf(call.id, payment, now),
      authorizedAmount,
      amount: received,
      atStake: call.amount,
      expiresAt: toDate(call.deadline),
      holds: false,
      isShared: hasSharedOutcome({ details }),
      call: writeChange(change),
      ...(snapshot === undefined ? {} : { snapshot }),
      ...(isReached === undefined ? {} : { isReached }),
    }
  }

  /** What the simulation of a deposit would find. */
  const findRevert = async (payment: Payment): Promise<RevertReason | null> => {
    const reading = readChannelProof(payment.proof)
    if ('problem' in reading || reading.proof.type !== 'deposit') return null
    const { proof } = reading
    const { receiver, token } = proof.config
    if (isZero(receiver)) return { reason: unsimulated, message: 'It reverts: InvalidChannel' }
    if (proof.amount === 0n) return { reason: unsimulated, message: 'It reverts: ZeroDeposit' }
    const pull = choosePull(proof, payment)
    if ('reason' in pull || pull.method !== 'eip3009') return null
    const finding = await tokens.find(token, payment)
    const domain = 'token' in finding ? finding.token.domain : null
    const { name, version } = payment.requirements.extra
    if (domain?.name === name && domain?.version === version) return null
    const message = "paymentRequirements.extra: name and version are not those of the token's EIP-712 domain"
    return { reason: unsimulated, message }
  }

  const read = async (payment: Payment, phase: OfflinePhase): Promise<OfflineReading | Refusal> => {
    const { isForSettle, now, trace } = phase
    const dependencies = dependenciesOf(payment, now)
    const { type } = payment.proof
    const create = typeof type === 'string' && Object.hasOwn(settled, type) ? settled[type] : undefined
    if (type === 'deposit' || isForSettle) {
      return await readCall(payment, (create ?? createPrepareDeposit)(dependencies), phase)
    }
    const verified = await createVerifyVoucher(dependencies, snapshots)(payment, {
      isAwaited: () => true,
      trace,
    })
    if (!verified.isValid) return verified
    const { settle: _, details: __, ...facts } = verified
    return { ...facts, holds: false }
  }

  const verifyVoucher: Scheme['verify'] = (payment, options) =>
    createVerifyVoucher(dependenciesOf(payment, clock.now()), snapshots)(payment, options)

  return {
    kind: { scheme: 'batch-settlement', network },
    extra: channelExtra,
    network: offline,
    describeAsset: async (asset) => tokens.describe(asset),
    identify: (payment) => {
      const id = identifyForever(payment)
      return id === null ? null : nameOf(id, payment, clock.now())
    },
    findPayer: ({ proof: { channelConfig } }) =>
      isFields(channelConfig) ? readAddress(channelConfig.payer) : null,
    continues,
    channelStreams: createChannelStreams({ ...shared, clock }, snapshots, verifyVoucher),
    read,
    contract: createContract(network, channels),
  }
}

const unsimulated = 'invalid_batch_settlement_evm_deposit_simulation_failed'

const settled: Readonly<Record<string, (dependencies: ChannelDependencies) => Prepare>> = {
  deposit: createPrepareDeposit,
  claim: createPrepareClaim,
  settle: createPrepareSweep,
  refund: createPrepareRefund,
}

const keyless = {
  reason: 'invalid_batch_settlement_evm_voucher_signature',
  message: 'Payers of the sandbox that have no key sign no vouchers: open a channel with a key of your own',
} as const

const reverts: Readonly<Record<SandboxChannelChange['type'], Reason>> = {
  deposit: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  claim: 'invalid_batch_settlement_evm_claim_transaction_failed',
  settle: 'invalid_batch_settlement_evm_settle_transaction_failed',
  refund: 'invalid_batch_settlement_evm_refund_transaction_failed',
}

const createContract = (network: string, channels: SandboxChannels): OfflineContract => ({
  keyless,
  prepare: async (call, requester) => {
    const change = readChange(call)
    if (change.type === 'deposit') await requireRoom(channels, network, change, requester)
  },
  execute: async (call, transaction) => {
    const change = readChange(call)
    const executed = await channels.execute(network, transaction, change)
    if (executed === null) return { revertedAs: reverts[change.type] }
    return change.type === 'settle' ? { amount: executed.amount } : {}
  },
  settledState: {
    describe: async ({ proof: fields }, transaction) => {
      const reading = readChannelProof(fields)
      if ('problem' in reading || reading.proof.type === 'settle') return {}
      const { proof } = reading
      if (proof.type === 'claim') return { amount: '' }
      if (proof.type === 'voucher') return {}
      const executed = await channels.findExecution(network, transaction)
      if (executed === null || executed.channel === null) {
        throw new Error('The sandbox no longer has the transaction of the channel')
      }
      const state = { ...executed.channel, withdrawal: 0n, withdrawRequestedAt: 0 }
      return {
        amount: `${executed.amount}`,
        extra: { channelState: describeState(proof.channelId, state) },
      }
    },
  },
})

const requireRoom = async (
  channels: SandboxChannels,
  network: string,
  channel: Extract<SandboxChannelChange, { readonly type: 'deposit' }>,
  requester: Requester | undefined,
): Promise<void> => {
  const { name = 'unnamed', site = null } = requester ?? {}
  const holders = [`requester ${name}`, ...(site === null ? [] : [`site ${site}`])]
  const room = await channels.reserve(network, channel, holders)
  if (room === 'share') {
    throw new AppError('RATE_LIMITED', 'Your address or account has its share of the open channels', {
      retryAfterSeconds: 60,
    })
  }
  if (room === 'full') {
    throw new AppError('SERVICE_UNAVAILABLE', 'The sandbox has as many channels as it keeps', {
      retryAfterSeconds: 60,
    })
  }
}

/** What the contract would do by the calldata. */
const toChange = ({ proof: fields }: Payment, chainId: number): SandboxChannelChange => {
  const reading = readChannelProof(fields)
  if ('problem' in reading) throw new Error(reading.problem)
  const { proof } = reading
  const totalsOf = (claims: Extract<ChannelProof, { readonly type: 'claim' }>['claims']) =>
    toRows(claims, chainId).map(({ channelId, totalClaimed: total }) => ({ channelId, total }))
  switch (proof.type) {
    case 'deposit': {
      const { channelId, amount, config } = proof
      return { type: 'deposit', channelId, amount, receiver: config.receiver, token: config.token }
    }
    case 'claim':
      return { type: 'claim', rows: totalsOf(proof.claims) }
    case 'settle':
      return { type: 'settle', receiver: proof.receiver, token: proof.token }
    case 'refund': {
      const { channelId, order } = proof
      if (order === null) throw new Error('The refund is incomplete')
      const { amount, nonce, claims } = order
      return { type: 'refund', channelId, nonce, amount, rows: totalsOf(claims) }
    }
    case 'voucher':
      throw new Error('A voucher changes nothing')
  }
}

/** For the journal's row, with amounts as text. */
const writeChange = (change: SandboxChannelChange) => {
  const writeRows = (rows: readonly { readonly channelId: string; readonly total: bigint }[]) =>
    rows.map(({ channelId, total }) => ({ channelId, total: `${total}` }))
  switch (change.type) {
    case 'deposit':
      return { ...change, amount: `${change.amount}` }
    case 'claim':
      return { ...change, rows: writeRows(change.rows) }
    case 'settle':
      return { ...change }
    case 'refund':
      return {
        ...change,
        amount: `${change.amount}`,
        nonce: `${change.nonce}`,
        rows: writeRows(change.rows),
      }
  }
}

const rowsShape = z.array(z.object({ channelId: hashField, total: wholeNumberField }))

const changeShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('deposit'),
    channelId: hashField,
    receiver: addressField,
    token: addressField,
    amount: wholeNumberField,
  }),
  z.object({ type: z.literal('claim'), rows: rowsShape }),
  z.object({ type: z.literal('settle'), receiver: addressField, token: addressField }),
  z.object({
    type: z.literal('refund'),
    channelId: hashField,
    nonce: wholeNumberField,
    amount: wholeNumberField,
    rows: rowsShape,
  }),
])

const readChange = (call: Fields): SandboxChannelChange => changeShape.parse(call)
