import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.js'
import type { Secret } from '../platform/secret.js'

/** Lets those pass who run the instance; throws FORBIDDEN where nobody can show that, else UNAUTHORIZED. */
export type OperatorGate = (request: FastifyRequest, reply: FastifyReply) => void

/** Builds the gate: an operator sends the configured token as `Authorization: Bearer …`. */
export const createOperatorGate = (token: Secret | null): OperatorGate => {
  if (token === null) {
    return () => {
      throw new AppError('FORBIDDEN', 'This is for operators, and OPERATOR_TOKEN is not set on this instance')
    }
  }
  const expected = digest(token.reveal())
  return ({ headers }, reply) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
    // Digests are of one length, and say nothing by how far they agree.
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return
    reply.header('www-authenticate', 'Bearer')
    throw new AppError('UNAUTHORIZED', 'This is for operators: send OPERATOR_TOKEN as Authorization: Bearer')
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
