import type { FastifyReply } from 'fastify'

/** For responses that are specific to a caller or to a moment. */
export const forbidCaching = (reply: FastifyReply): void => {
  reply.header('cache-control', 'no-store')
}
