import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import type { CoreUseCases } from '../../usecases/core/useCases.js'
import { sendPrepared } from '../apiDocuments.js'
import { type ConsoleFiles, chooseForm } from '../consoleFiles.js'
import { nameOfNetwork } from '../page/networkName.js'
import { forbidCaching } from '../reply.js'

interface ConsoleRoutesDependencies {
  readonly useCases: Pick<CoreUseCases, 'listNetworks'>
  /** Null: it was not built. */
  readonly files: ConsoleFiles | null
}

/** Scripts, styles and requests of this service only; uPlot sets styles through the CSSOM, which it allows. */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

// It is no part of the API, whose document leaves it out.
const hidden = { schema: { hide: true }, config: { access: 'public' } } as const

export const consoleRoutes: FastifyPluginCallback<ConsoleRoutesDependencies> = (
  app,
  { useCases, files },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
  })

  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (files === null) throw notBuilt()
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', consolePolicy)
      .header('cross-origin-opener-policy', 'same-origin')
      .header('x-frame-options', 'DENY')
    return sendPrepared(request, reply, files.index)
  }
  // The script reads the rest of the path.
  for (const path of ['/console', '/console/', '/console/*']) app.get(path, hidden, sendPage)

  app.get<{ Params: { name: string } }>('/console/assets/:name', hidden, async (request, reply) => {
    if (files === null) throw notBuilt()
    const asset = files.assets.get(request.params.name)
    if (asset === undefined) throw new AppError('NOT_FOUND', 'The console has no such file')
    const [coding, bytes] = chooseForm(asset, request.headers['accept-encoding'])
    if (coding !== 'identity') reply.header('content-encoding', coding)
    reply
      .type(asset.mediaType)
      .header('vary', 'Accept-Encoding')
      // The name contains a hash of the content.
      .header('cache-control', 'public, max-age=31536000, immutable')
    return reply.send(bytes)
  })

  app.get('/console/networks.json', hidden, async (_request, reply) => {
    forbidCaching(reply)
    const networks = useCases.listNetworks()
    return { networks: networks.map((each) => ({ ...each, name: nameOfNetwork(each.network) })) }
  })
  done()
}

const notBuilt = (): AppError => new AppError('NOT_FOUND', 'The console is not built: run npm run build')
