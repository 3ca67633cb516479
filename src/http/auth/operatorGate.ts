import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import type { Secret } from '../../platform/secret.js'

export interface OperatorGate {
  readonly isOperator: (request: FastifyRequest) => boolean
  /** Throws FORBIDDEN if no operator token is configured, UNAUTHORIZED if the request does not carry it. */
  readonly requireOperator: (request: FastifyRequest) => void
}

export const createOperatorGate = (token: Secret | null): OperatorGate => {
  if (token === null) {
    return {
      isOperator: () => false,
      requireOperator: () => {
        throw new AppError('FORBIDDEN', 'Operators only: OPERATOR_TOKEN is not set on this instance')
      },
    }
  }
  const isOperator = createTokenCheck(token)
  return {
    isOperator,
    requireOperator: (request) => {
      if (isOperator(request)) return
      throw new AppError('UNAUTHORIZED', 'Operators only: send OPERATOR_TOKEN as Authorization: Bearer')
    },
  }
}

/** Whether a request carries the token as `Authorization: Bearer`. */
export const createTokenCheck = (token: Secret): ((request: FastifyRequest) => boolean) => {
  const expected = digest(token.reveal())
  return ({ headers }) => {
    const [, presented] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
    // Hashed first: timingSafeEqual needs equal lengths, and digests leak no prefix.
    return presented !== undefined && timingSafeEqual(digest(presented), expected)
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
