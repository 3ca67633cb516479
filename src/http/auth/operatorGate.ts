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
  const expected = digest(token.reveal())
  const isOperator = ({ headers }: FastifyRequest): boolean => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
    // Hashed first: timingSafeEqual needs equal lengths, and digests leak no prefix.
    return token !== undefined && timingSafeEqual(digest(token), expected)
  }
  return {
    isOperator,
    requireOperator: (request) => {
      if (isOperator(request)) return
      throw new AppError('UNAUTHORIZED', 'Operators only: send OPERATOR_TOKEN as Authorization: Bearer')
    },
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
