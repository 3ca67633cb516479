import type { Socket } from 'node:net'
import fastifyPlugin from 'fastify-plugin'
import { createAddressBlocks } from '../../platform/addressBlocks.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'

/** 0: no cap. */
export interface ConnectionLimitsOptions {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Proxies carry the connections of many clients: only the total counts for them. */
  readonly trustProxy: readonly string[]
}

/** Further connections are closed without a response: writing one would cost what the cap protects. */
export const connectionLimits = fastifyPlugin<ConnectionLimitsOptions>(
  (app, { maxConnections, maxConnectionsPerAddress, trustProxy }, done) => {
    if (maxConnections > 0) app.server.maxConnections = maxConnections
    const blocks = createAddressBlocks()
    const open = new Map<string, number>()

    if (maxConnectionsPerAddress > 0) {
      app.server.on('connection', (socket: Socket) => {
        const peer = socket.remoteAddress
        if (peer === undefined || blocks.include(trustProxy, peer)) return
        const network = readClientNetwork(peer)
        const count = open.get(network) ?? 0
        if (count >= maxConnectionsPerAddress) {
          socket.destroy()
          return
        }
        open.set(network, count + 1)
        socket.once('close', () => {
          const left = (open.get(network) ?? 1) - 1
          if (left === 0) open.delete(network)
          else open.set(network, left)
        })
      })
    }
    done()
  },
  { name: 'connectionLimits' },
)
