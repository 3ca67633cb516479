import type { Hex } from 'viem'
import { withinDeadline, withSignal } from '../../../concurrency/deadline.js'
import { createFairSlots, type FairSlotsOptions } from '../../../concurrency/slots.js'
import { AppError } from '../../../errors.js'
import { siteFactor } from '../../../platform/clientNetwork.js'
import type { Secret } from '../../../platform/secret.js'
import type { LimitWindow, RateLimiter, Requester } from '../../../ports/rateLimiter.js'
import type { ContractReader } from '../../chain.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import { createJsonRpcEndpoint } from '../../nodes/jsonRpcEndpoint.js'
import { type Ask, type CallAnswer, type CallRequest, createReads, type Rpc } from './rpc.js'

/**
 * `check`: refused when the share is used up. `settle`: the same, with more gas, so that what was verified can be settled.
 * `promised`: never refused, because the settlement was admitted before; it waits longer for its turn.
 */
type UntrustedOccasion = 'check' | 'settle' | 'promised'

export interface UntrustedUse {
  readonly requester: Requester
  readonly occasion: UntrustedOccasion
}

/**
 * Calls that run code which a caller chose, such as a wallet's `isValidSignature`. They have connections of their own, are
 * never batched, end at a deadline, do not count in the health of endpoints, and take turns by requester. Throw an
 * `AppError`: when the requester's share is used up, and when no node answers in time.
 */
export interface UntrustedCalls {
  call(
    request: BoundedRequest,
    use: UntrustedUse,
    findUnusedGas?: (answer: CallAnswer<Hex>) => bigint,
  ): Promise<CallAnswer<Hex>>
  estimateGas(request: BoundedRequest, use: UntrustedUse): Promise<CallAnswer<bigint>>
}

type BoundedRequest = CallRequest & { readonly gas: bigint }

interface UntrustedShare {
  /** Part of the keys in the rate limiter. */
  readonly name: string
  readonly slots: FairSlotsOptions
  /** For one requester; a call takes its limit, and gets back what it is known not to use. */
  readonly gasPerMinute: Readonly<Record<Exclude<UntrustedOccasion, 'promised'>, number>>
  refuse(network: string, retryAfterSeconds: number): AppError
}

/** What sign-in messages and changes of listings share. */
export const signatureShare: UntrustedShare = {
  name: 'signatures',
  slots: { slots: 3, urgentSlots: 0, slotsPerOwner: 2, waitingPerOwner: 16, maxWaiting: 256 },
  gasPerMinute: { check: 60_000_000, settle: 60_000_000 },
  refuse: (network, retryAfterSeconds) =>
    new AppError('RATE_LIMITED', `Too many signatures of contract wallets on ${network}`, {
      operationalCode: 'SVC-2005',
      retryAfterSeconds,
    }),
}

/** What simulations and estimates of payments, and vouchers of streams share. */
export const paymentShare: UntrustedShare = {
  name: 'payments',
  slots: { slots: 4, urgentSlots: 1, slotsPerOwner: 2, waitingPerOwner: 64, maxWaiting: 1_024 },
  gasPerMinute: { check: 300_000_000, settle: 1_200_000_000 },
  refuse: (network, retryAfterSeconds) =>
    new AppError('SERVICE_UNAVAILABLE', `Too many payments of contract wallets on ${network}; retry`, {
      operationalCode: 'SVC-4001',
      retryAfterSeconds,
    }),
}

interface UntrustedCallsDependencies {
  readonly network: string
  readonly rpc: Pick<Rpc, 'endpoints' | 'listWitnesses' | 'probe'>
  /** They belong to the endpoints of `rpc`, in the same order. */
  readonly rpcUrls: readonly Secret[]
  readonly limiter: Pick<RateLimiter, 'take' | 'refund'>
  readonly timeoutMs: number
}

const minuteMs = 60_000
const checkWaitMs = 2_000
const settleWaitMs = 5_000
// A node executes the call several times.
const executionsPerEstimate = 4n

export const createUntrustedCalls = (
  { network, rpc, rpcUrls, limiter, timeoutMs }: UntrustedCallsDependencies,
  share: UntrustedShare,
): UntrustedCalls => {
  const slots = createFairSlots(share.slots)
  const connections = share.slots.slots
  const isolated = new Map<Endpoint, Endpoint>()
  for (const [index, endpoint] of rpc.endpoints.entries()) {
    const url = rpcUrls[index]
    if (url === undefined) continue
    isolated.set(endpoint, createJsonRpcEndpoint(url, timeoutMs, { takesBatches: false, connections }))
  }

  const listEndpoints = async (): Promise<readonly Endpoint[]> => {
    const healthy = rpc.listWitnesses()
    if (healthy.length > 0) return healthy
    await rpc.probe()
    return rpc.listWitnesses()
  }

  const unanswered = (cause: unknown): AppError =>
    new AppError('SERVICE_UNAVAILABLE', `No endpoint of ${network} answers for the wallet in time`, {
      cause,
      operationalCode: 'SVC-2004',
      retryAfterSeconds: 2,
    })
  const ask: Ask = async (method, params, schema, { isVerdict = () => false } = {}) => {
    const startedAt = performance.now()
    let cause: unknown = new Error('No endpoint is available')
    for (const endpoint of await listEndpoints()) {
      // What takes long at one endpoint takes long at the next.
      if (performance.now() - startedAt > timeoutMs / 2) break
      try {
        return await (isolated.get(endpoint) ?? endpoint).request(method, params, schema)
      } catch (error) {
        if (error instanceof RpcError && isVerdict(error)) throw error
        cause = error
      }
    }
    throw unanswered(cause)
  }
  const reads = createReads(network, ask)

  const listWindows = (gas: bigint, { requester, occasion }: UntrustedUse): readonly LimitWindow[] => {
    if (occasion === 'promised') return []
    const limit = share.gasPerMinute[occasion]
    const windowOf = (subject: string, factor: number): LimitWindow => ({
      key: `untrusted gas ${share.name} ${occasion} ${network} ${subject}`,
      limit: limit * factor,
      windowMs: minuteMs,
      cost: Number(gas),
    })
    const { name, site } = requester
    return site === null ? [windowOf(name, 1)] : [windowOf(name, 1), windowOf(site, siteFactor)]
  }

  /** Returns what gives gas back. */
  const draw = async (gas: bigint, use: UntrustedUse): Promise<(unused: bigint) => void> => {
    const windows = listWindows(gas, use)
    if (windows.length === 0) return () => undefined
    const taken = await limiter.take(windows)
    if (taken.isAllowed) {
      return (unused) => {
        if (unused <= 0n) return
        void limiter.refund(
          windows.map((window) => ({ ...window, cost: Number(unused) })),
          taken,
        )
      }
    }
    const resetsAt = taken.windows[taken.refusedBy ?? 0]?.resetsAt ?? new Date()
    const seconds = Math.ceil((resetsAt.getTime() - Date.now()) / 1_000)
    throw share.refuse(network, Math.min(Math.max(1, seconds), minuteMs / 1_000))
  }

  const takeTurn = async ({ requester, occasion }: UntrustedUse): Promise<() => void> => {
    const isUrgent = occasion !== 'check'
    const owner = requester.site ?? requester.name
    try {
      return await withinDeadline({ milliseconds: isUrgent ? settleWaitMs : checkWaitMs }, (signal) =>
        slots.acquire({ owner, isUrgent, signal }),
      )
    } catch {
      throw share.refuse(network, 1)
    }
  }

  const run = async <T>(
    { gas, use }: { readonly gas: bigint; readonly use: UntrustedUse },
    request: () => Promise<T>,
    findUnusedGas: (answer: T) => bigint,
  ): Promise<T> => {
    const refund = await draw(gas, use)
    const release = await takeTurn(use).catch((error: unknown) => {
      refund(gas)
      throw error
    })
    const startedAt = performance.now()
    try {
      const answer = await withinDeadline({ milliseconds: timeoutMs + graceMs }, (signal) =>
        withSignal(request().finally(release), signal).catch((error: unknown) => {
          throw signal.aborted ? unanswered(error) : error
        }),
      )
      refund(findUnusedGas(answer))
      return answer
    } catch (error) {
      // A node that cannot be reached ran nothing.
      if (performance.now() - startedAt < timeoutMs / 2) refund(gas)
      throw error
    }
  }

  return {
    call: (request, use, findUnusedGas = () => 0n) =>
      run({ gas: request.gas, use }, () => reads.call(request), findUnusedGas),
    estimateGas: (request, use) =>
      run(
        { gas: request.gas * executionsPerEstimate, use },
        () => reads.estimateGas(request),
        (answer) => (answer.succeeds ? (request.gas - answer.value) * executionsPerEstimate : 0n),
      ),
  }
}

// The endpoint's own deadline says more about what happened.
const graceMs = 50

export const createContractReader = (
  network: string,
  calls: Pick<UntrustedCalls, 'call'>,
  occasion: UntrustedOccasion = 'check',
): ContractReader => ({
  network,
  run: async ({ code, gas, findUnusedGas }, requester) => {
    const answer = await calls.call({ to: null, data: code, gas }, { requester, occasion }, (given) =>
      findUnusedGas(given.succeeds ? given.value : null),
    )
    return answer.succeeds ? answer.value : null
  },
})
