import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { canonicalNetwork } from '../../protocol/network.js'
import type { CoreUseCases } from '../../usecases/core/useCases.js'
import { type HomePageNetwork, homePagePolicy, renderHomePage } from '../page/homePage.js'
import { nameOfNetwork } from '../page/networkName.js'
import { favicon } from '../page/style.js'
import { forbidCaching } from '../reply.js'

interface HomeRoutesDependencies {
  readonly useCases: Pick<CoreUseCases, 'checkReadiness' | 'describeService' | 'listSupported'>
  readonly apiKeyRequired: boolean
  readonly isSandbox: boolean
}

// It is no part of the API, whose document leaves it out.
const hidden = { schema: { hide: true }, config: { access: 'public' } } as const

export const homeRoutes: FastifyPluginCallback<HomeRoutesDependencies> = (
  app,
  { useCases, apiKeyRequired, isSandbox },
  done,
) => {
  app.get('/', hidden, async (request, reply) => {
    forbidCaching(reply)
    reply.header('vary', 'Accept').header('x-content-type-options', 'nosniff')
    const { status, checks } = await useCases.checkReadiness()
    const networks = listNetworks(useCases, checks)
    const { name, version, description } = useCases.describeService()
    const origin = readOrigin(request)
    if (!acceptsHtml(request.headers.accept)) {
      const links = { docs: '/docs', openapi: '/api/openapi.yaml', supported: '/supported', info: '/info' }
      return { name, version, description, status, networks, links }
    }
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', homePagePolicy)
      .header('referrer-policy', 'no-referrer')
    const isReady = status === 'ready'
    return renderHomePage({ version, origin, isReady, isKeyRequired: apiKeyRequired, isSandbox, networks })
  })

  for (const path of ['/favicon.svg', '/favicon.ico']) {
    app.get(path, hidden, async (_request, reply) => {
      reply
        .type('image/svg+xml; charset=utf-8')
        .header('cache-control', 'public, max-age=86400')
        .header('content-security-policy', "default-src 'none'")
        .header('x-content-type-options', 'nosniff')
      return favicon
    })
  }
  done()
}

const gasCheck = 'gas:'

/** Configured networks, and those that can settle; no detail that is for operators. */
const listNetworks = (
  { listSupported }: HomeRoutesDependencies['useCases'],
  checks: Readonly<Record<string, string>>,
): readonly HomePageNetwork[] => {
  // Other names repeat the kinds.
  const kinds = listSupported().kinds.filter(({ network }) => canonicalNetwork(network) === network)
  const configured = Object.keys(checks)
    .filter((check) => check.startsWith(gasCheck))
    .map((check) => check.slice(gasCheck.length))
  return [...new Set([...configured, ...kinds.map(({ network }) => network)])].map((network) => {
    const schemes = kinds.filter((kind) => kind.network === network).map(({ scheme }) => scheme)
    return {
      network,
      name: nameOfNetwork(network),
      schemes: [...new Set(schemes)],
      isServing: schemes.length > 0,
      gas: checks[`${gasCheck}${network}`] ?? 'unknown',
    }
  })
}

const plainHost = /^[A-Za-z0-9.:[\]-]{1,255}$/

/** The caller chose `Host`; the page is for that caller alone. */
const readOrigin = ({ protocol, host }: FastifyRequest): string =>
  plainHost.test(host) ? `${protocol}://${host}` : 'http://localhost:8080'

/**
 * Whether a caller asks for a page: it names text/html, and prefers nothing else that we have. Browsers do; programs send
 * a wildcard, application/json or nothing, and get JSON.
 */
export const acceptsHtml = (accept = ''): boolean => {
  const weights = new Map(accept.slice(0, maxLength).split(',').map(readRange))
  const page = weights.get('text/html') ?? 0
  return page > 0 && page >= (weights.get('application/json') ?? 0)
}

const maxLength = 1_000

const readRange = (range: string): readonly [string, number] => {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}
