import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.js'
import type { Secret } from '../platform/secret.js'

/** Tells who runs the instance from everyone else. */
export interface OperatorGate {
  /** Whether the request carries the operator's token. */
  readonly isOperator: (request: FastifyRequest) => boolean
  /** Throws FORBIDDEN where nobody can be an operator, UNAUTHORIZED for everyone who is none. */
  readonly requireOperator: (request: FastifyRequest) => void
}

/** Builds the gate: an operator sends the configured token as `Authorization: Bearer …`. */
export const createOperatorGate = (token: Secret | null): OperatorGate => {
  if (token === null) {
    return {
      isOperator: () => false,
      requireOperator: () => {
        throw new AppError(
          'FORBIDDEN',
          'This is for operators, and OPERATOR_TOKEN is not set on this instance',
        )
      },
    }
  }
  const expected = digest(token.reveal())
  const isOperator = ({ headers }: FastifyRequest): boolean => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
    // Digests are of one length, and say nothing by how far they agree.
    return given !== undefined && timingSafeEqual(digest(given), expected)
  }
  return {
    isOperator,
    requireOperator: (request) => {
      if (isOperator(request)) return
      throw new AppError(
        'UNAUTHORIZED',
        'This is for operators: send OPERATOR_TOKEN as Authorization: Bearer',
      )
    },
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
