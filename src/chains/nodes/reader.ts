import { z } from 'zod'
import { AppError } from '../../errors.js'
import type { Logger } from '../../ports/logger.js'
import { RpcError, readRateLimit } from './endpoint.js'
import type { EndpointHealth, HealthTime } from './endpointHealth.js'
import type { EndpointPool } from './endpointPool.js'
import { ResponseTooLargeError } from './httpClient.js'

interface ReadOptions {
  /** Whether an RPC error is the chain's own result, the same on every endpoint, such as a revert. */
  readonly isVerdict?: (error: RpcError) => boolean
  /** False for requests that must not be sent to two endpoints at once. */
  readonly mayHedge?: boolean
  /** True for requests that each endpoint limits in its own way: a refusal is no fault. */
  readonly mayRefuse?: boolean
}

type Read = <Schema extends z.ZodType>(
  method: string,
  params: unknown,
  schema: Schema,
  options?: ReadOptions,
) => Promise<z.infer<Schema>>

// Upper bound of hedged requests in flight, so that slow endpoints do not double the load.
const maxHedges = 32

/**
 * Reads from the pinned endpoint; fails over to the others, and hedges when it is slow. Rejects with
 * `RpcError` for a verdict and with SVC-2004 when no endpoint responds.
 *
 * A response that is too large or of another form than the schema's is no fault of the endpoint: a payer chooses what
 * its accounts, contracts and transactions hold, and could take every endpoint out of use. Probes judge the endpoint, by
 * answers that no payer controls. If another endpoint gives a readable answer, it is read from instead.
 */
export const createReader = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): Read => {
  let hedges = 0

  return async <Schema extends z.ZodType>(
    method: string,
    params: unknown,
    schema: Schema,
    { isVerdict = () => false, mayHedge = true, mayRefuse = false }: ReadOptions = {},
  ): Promise<z.infer<Schema>> => {
    const candidates = await pool.findReaders()
    const [primary, ...others] = candidates
    const errors = new Map<EndpointHealth, { readonly startedAtMs: number; readonly error: RpcError }>()

    let hasUnreadablePrimary = false

    const requestFrom = async (health: EndpointHealth) => {
      const startedAtMs = time.monotonicMs()
      try {
        const value = await health.endpoint.request(method, params, schema)
        health.onAnswer(startedAtMs)
        return { value }
      } catch (error) {
        // Checked first: a contract chooses its revert message and could imitate a rate limit.
        if (error instanceof RpcError && isVerdict(error)) {
          health.onAnswer(startedAtMs)
          return { verdict: error }
        }
        if (isUnreadable(error)) {
          logger.debug({ network, host: health.name, method, error }, 'rpc.unreadable')
          if (health === primary) hasUnreadablePrimary = true
        } else if (!(error instanceof RpcError) || readRateLimit(error) !== null) {
          health.onFailure(startedAtMs, error)
        } else {
          logger.debug({ network, host: health.name, method, error }, 'rpc.refused')
          errors.set(health, { startedAtMs, error })
        }
        throw error
      }
    }

    const hedge =
      primary === undefined || others.length === 0 || !mayHedge
        ? null
        : { afterMs: primary.getTimeoutMs(), isAllowed: () => hedges < maxHedges }
    const first = await findFirstResponse({
      candidates,
      hedge,
      send: async (health) => {
        if (health === primary) return await requestFrom(health)
        hedges += 1
        try {
          return await requestFrom(health)
        } finally {
          hedges -= 1
        }
      },
    }).catch((error: unknown) => {
      throw unavailable(network, error)
    })
    if (primary !== undefined && (first.isFromHedge || hasUnreadablePrimary))
      pool.promote(primary, first.from)
    // An endpoint that refuses what another one answers is faulty; if all refuse, the request is at fault.
    for (const [health, { startedAtMs, error }] of errors) {
      if (!mayRefuse && !isMissingMethod(error)) health.onFailure(startedAtMs, error)
    }
    if ('verdict' in first.response) throw first.response.verdict
    return first.response.value
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof z.ZodError || error instanceof ResponseTooLargeError

const unavailable = (network: string, cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', describeUnavailable(network, cause), {
    cause,
    operationalCode: 'SVC-2004',
    retryAfterSeconds: 2,
  })

const describeUnavailable = (network: string, cause: unknown): string =>
  isUnreadable(cause)
    ? `What the endpoints of ${network} return cannot be read`
    : `No endpoint of ${network} responds`

const isMissingMethod = ({ code, message }: RpcError): boolean =>
  code === -32601 ||
  code === -32604 ||
  /method (not found|.*(not (available|supported|found)|does not exist))/i.test(message)

interface FirstResponse<Candidate, Response> {
  readonly response: Response
  readonly from: Candidate
  readonly isFromHedge: boolean
}

interface HedgedRequest<Candidate, Response> {
  readonly candidates: readonly Candidate[]
  send(candidate: Candidate): Promise<Response>
  /** After this delay without a response the next candidate is asked as well, if allowed; null: never. */
  readonly hedge: { readonly afterMs: number; isAllowed(): boolean } | null
}

/** Asks the candidates in order until one responds; rejects with the last error when none does. */
const findFirstResponse = <Candidate, Response>({
  candidates,
  send,
  hedge,
}: HedgedRequest<Candidate, Response>): Promise<FirstResponse<Candidate, Response>> =>
  new Promise((resolve, reject) => {
    const remaining = [...candidates]
    let running = 0
    let timer: NodeJS.Timeout | undefined

    const sendNext = () => {
      const candidate = remaining.shift()
      if (candidate === undefined) return
      running += 1
      send(candidate).then(
        (response) => {
          running -= 1
          clearTimeout(timer)
          remaining.length = 0
          resolve({ response, from: candidate, isFromHedge: running > 0 && candidate !== candidates[0] })
        },
        (error: unknown) => {
          running -= 1
          if (running > 0) return
          if (remaining.length > 0) sendNext()
          else {
            clearTimeout(timer)
            reject(error)
          }
        },
      )
    }

    if (candidates.length === 0) reject(new Error('No endpoint is available'))
    sendNext()
    if (hedge !== null && remaining.length > 0) {
      timer = setTimeout(() => hedge.isAllowed() && sendNext(), hedge.afterMs)
    }
  })
