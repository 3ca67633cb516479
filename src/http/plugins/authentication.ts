import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import type { DashboardUseCases, KeyUse } from '../../usecases/dashboard.js'
import type { Access } from '../access.js'
import type { OperatorGate } from '../operatorGate.js'
import { readPresentedKey } from '../presentedKey.js'
import { isProbe } from '../probes.js'
import { findRefererHost } from '../refererHost.js'

/** What it takes to know callers by their keys. */
export interface AuthenticationOptions {
  readonly authenticate: DashboardUseCases['authenticate']
  readonly isOperator: OperatorGate['isOperator']
  /** Whether routes whose `access` is `key` refuse callers without one. */
  readonly apiKeyRequired: boolean
}

/**
 * Knows callers by their API keys, before anything of a body is read. A key that is presented and wrong is refused on
 * every route but the probes, which answer whatever the stores do; without a key no store is asked.
 */
export const authentication = fastifyPlugin<AuthenticationOptions>(
  (app, { authenticate, isOperator, apiKeyRequired }, done) => {
    app.addHook('onRequest', async (request) => {
      if (isProbe(request)) return
      const apiKey = readPresentedKey(request, !hasOperatorsBearer(request, isOperator))
      if (apiKey === null) {
        if (needsKey(request.routeOptions.config.access, apiKeyRequired)) refuseAnonymous()
        return
      }
      const account = await findAccount(authenticate, {
        apiKey: apiKey.reveal(),
        address: request.ip,
        refererHost: findRefererHost(request.headers),
      })
      request.caller = account.id
      request.account = account
      request.apiKey = apiKey
    })
    done()
  },
  { name: 'authentication' },
)

/** On routes that serve operators too, their token is no wrong key. */
const hasOperatorsBearer = (request: FastifyRequest, isOperator: OperatorGate['isOperator']): boolean => {
  const { access, asksOperators } = request.routeOptions.config
  if (access === 'operator') return true
  return asksOperators !== undefined && (asksOperators(request) || isOperator(request))
}

const needsKey = (access: Access | undefined, apiKeyRequired: boolean): boolean => {
  switch (access) {
    case 'dashboard':
      return true
    case 'key':
      return apiKeyRequired
    case 'public':
    case 'operator':
    case undefined:
      return false
  }
}

const refuseAnonymous = (): never => {
  throw new AppError('UNAUTHORIZED', 'Send your API key as Authorization: Bearer, or as X-API-Key')
}

const findAccount = async (authenticate: DashboardUseCases['authenticate'], use: KeyUse) => {
  try {
    return await authenticate(use)
  } catch (error) {
    if (error instanceof AppError) throw error
    // Nothing is known against the key: the caller should ask again, not throw it away.
    throw new AppError('SERVICE_UNAVAILABLE', 'API keys cannot be checked at the moment', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
}
