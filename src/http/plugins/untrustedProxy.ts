import fastifyPlugin from 'fastify-plugin'
import { createAddressBlocks } from '../../platform/addressBlocks.js'
import type { Logger } from '../../ports/logger.js'

export interface UntrustedProxyOptions {
  readonly trustProxy: readonly string[]
  readonly logger: Logger
}

/** Warns once: behind a proxy that TRUST_PROXY does not list, all clients share one address and its limits. */
export const untrustedProxy = fastifyPlugin<UntrustedProxyOptions>(
  (app, { trustProxy, logger }, done) => {
    const blocks = createAddressBlocks()
    let isWarned = false
    app.addHook('onRequest', (request, _reply, next) => {
      const peer = request.raw.socket.remoteAddress
      if (
        !isWarned &&
        request.headers['x-forwarded-for'] !== undefined &&
        peer !== undefined &&
        !blocks.include(trustProxy, peer)
      ) {
        isWarned = true
        logger.warn(
          {
            peer,
            hint: 'X-Forwarded-For was ignored. If this peer is your proxy, list it in TRUST_PROXY: until then all of its clients share one address and its limits.',
          },
          'proxy.untrusted',
        )
      }
      next()
    })
    done()
  },
  { name: 'untrustedProxy' },
)
