import type { FastifyReply } from 'fastify'

/** Keeps an answer out of every cache: it is true now, or for one caller. */
export const forbidCaching = (reply: FastifyReply): void => {
  reply.header('cache-control', 'no-store')
}
