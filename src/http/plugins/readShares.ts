import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { createFairSlots } from '../../concurrency/slots.js'
import { AppError } from '../../errors.js'
import { readClientSite } from '../../platform/clientNetwork.js'
import { createAbandonment } from '../reply.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Reads as much as a caller asks for; uses the connections for reads. */
    isLongRead?: true
  }
}

/** One address uses at most one of so many connections for reads. */
const connectionsPerShare = 5
const waitingPerAddress = 32
const maxWaiting = 512
const maxWaitMs = 5_000

/**
 * Addresses take turns at long reads: a search can keep a processor of the database busy for as long as its statement may
 * take, and payments need the same processors. A key changes nothing, because keys are free.
 */
export const readShares = fastifyPlugin<{ readonly connections: number }>(
  (app, { connections }, done) => {
    const slots = createFairSlots({
      slots: connections,
      urgentSlots: 0,
      slotsPerOwner: Math.ceil(connections / connectionsPerShare),
      waitingPerOwner: waitingPerAddress,
      maxWaiting,
    })
    const acquire = async (request: FastifyRequest, reply: FastifyReply): Promise<() => void> => {
      const abandoned = createAbandonment(reply)
      const timer = setTimeout(() => abandoned.abort(), maxWaitMs)
      const owner = readClientSite(request.ip)
      try {
        return await slots.acquire({ owner, isUrgent: false, signal: abandoned.signal })
      } catch (error) {
        throw new AppError('RATE_LIMITED', 'Too many reads of this address are in progress', {
          cause: error,
          operationalCode: 'SVC-2005',
          retryAfterSeconds: 1,
        })
      } finally {
        clearTimeout(timer)
      }
    }

    // A place is held for as long as the handler runs: what a caller that left has begun still uses the database, and
    // a caller that does not read its response uses nothing.
    app.addHook('onRoute', (route) => {
      if (route.config?.isLongRead !== true) return
      const { handler } = route
      route.handler = async function (request, reply) {
        const release = await acquire(request, reply)
        try {
          return await handler.call(this, request, reply)
        } finally {
          release()
        }
      }
    })
    done()
  },
  { name: 'readShares' },
)
