import type { FastifyRequest } from 'fastify'
import type { KeyViewer } from '../../usecases/dashboard/useCases.js'
import { createIsLocalCaller } from './localCaller.js'
import type { OperatorGate } from './operatorGate.js'

export type ReadKeyViewer = (request: FastifyRequest) => KeyViewer

export interface KeyViewerDependencies {
  readonly trustProxy: readonly string[]
  readonly isOperator: OperatorGate['isOperator']
}

export const createReadKeyViewer = ({ trustProxy, isOperator }: KeyViewerDependencies): ReadKeyViewer => {
  const isLocalCaller = createIsLocalCaller(trustProxy)
  return (request) => (isOperator(request) || isLocalCaller(request) ? 'trusted' : 'stranger')
}
