import type { FastifyRequest } from 'fastify'
import type { KeyViewer } from '../../usecases/dashboard/useCases.js'
import { createIsLocalCaller } from './localCaller.js'
import type { OperatorGate } from './operatorGate.js'

/** Reads from a request who sees the keys in its answer. */
export type ReadKeyViewer = (request: FastifyRequest) => KeyViewer

/** What recognising trusted callers needs. */
export interface KeyViewerParts {
  readonly trustProxy: readonly string[]
  readonly isOperator: OperatorGate['isOperator']
}

/** Trusts the operator's token and programs on this machine. */
export const createReadKeyViewer = ({ trustProxy, isOperator }: KeyViewerParts): ReadKeyViewer => {
  const isLocalCaller = createIsLocalCaller(trustProxy)
  return (request) => (isOperator(request) || isLocalCaller(request) ? 'trusted' : 'stranger')
}
