import type { z } from 'zod'
import { AppError } from '../../errors.js'
import type { Logger } from '../../ports/logger.js'
import { RpcRefusal } from './endpoint.js'
import type { EndpointHealth, HealthTime } from './endpointHealth.js'
import type { EndpointPool } from './endpointPool.js'
import { findFirstAnswer } from './firstAnswer.js'
import { isMissingMethod } from './missingMethod.js'
import { readRateLimit } from './readRateLimit.js'

/** How a question is asked. */
export interface ReadOptions {
  /** Whether a refusal is an answer, the same on every endpoint. */
  readonly isVerdict?: (refusal: RpcRefusal) => boolean
  /** Whether a second endpoint may be asked when the first is silent for long. */
  readonly mayHedge?: boolean
}

/** Asks a network one question: `RpcRefusal` is a verdict, an `AppError` with SVC-2004 says that nobody answers. */
export type Read = <Schema extends z.ZodType>(
  method: string,
  params: unknown,
  schema: Schema,
  asking?: ReadOptions,
) => Promise<z.infer<Schema>>

// Requests that are sent to a second endpoint as well must not double the load when everything is slow.
const maxHedges = 32

/** Reads from the healthiest endpoint, and from the others when that fails or is silent for unusually long. */
export const createReader = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): Read => {
  /** Requests under way to others than the one that is read from. */
  let hedges = 0

  return async <Schema extends z.ZodType>(
    method: string,
    params: unknown,
    schema: Schema,
    { isVerdict = () => false, mayHedge = true }: ReadOptions = {},
  ): Promise<z.infer<Schema>> => {
    const candidates = await pool.findReaders()
    const refusals = new Map<EndpointHealth, { readonly startedAtMs: number; readonly error: RpcRefusal }>()

    const askOne = async (health: EndpointHealth) => {
      const startedAtMs = time.monotonicMs()
      try {
        const value = await health.endpoint.request(method, params, schema)
        health.onAnswer(startedAtMs)
        return { value }
      } catch (error) {
        // First of all: a contract chooses the words of its revert, and may choose those of a busy node.
        if (error instanceof RpcRefusal && isVerdict(error)) {
          // What the chain says of a call is the same everywhere; any other refusal is this endpoint's own.
          health.onAnswer(startedAtMs)
          return { verdict: error }
        }
        if (!(error instanceof RpcRefusal) || readRateLimit(error) !== null) {
          health.onFailure(startedAtMs, error)
        } else {
          logger.debug({ network, host: health.name, method, error }, 'rpc.refused')
          refusals.set(health, { startedAtMs, error })
        }
        throw error
      }
    }

    const [first, ...others] = candidates
    const hedge =
      first === undefined || others.length === 0 || !mayHedge
        ? null
        : { afterMs: first.getTimeoutMs(), isAllowed: () => hedges < maxHedges }
    const found = await findFirstAnswer({
      candidates,
      hedge,
      ask: async (health) => {
        if (health === first) return await askOne(health)
        hedges += 1
        try {
          return await askOne(health)
        } finally {
          hedges -= 1
        }
      },
    }).catch((error: unknown) => {
      throw unavailable(network, error)
    })
    if (found.isFromHedge && first !== undefined) pool.promote(first, found.by)
    // Refusing what another endpoint answers is a fault; refusing what all refuse is the question's.
    for (const [health, { startedAtMs, error }] of refusals) {
      if (!isMissingMethod(error)) health.onFailure(startedAtMs, error)
    }
    if ('verdict' in found.answer) throw found.answer.verdict
    return found.answer.value
  }
}

const unavailable = (network: string, cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `No node of ${network} answers`, {
    cause,
    operationalCode: 'SVC-2004',
    retryAfterSeconds: 2,
  })
