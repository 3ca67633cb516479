import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../errors.js'
import { readClientNetworks } from '../../platform/clientNetwork.js'
import type { ClientAddresses } from './clientAddresses.js'
import type { DelayedRefusals } from './delayedRefusals.js'
import type { OpenConnections } from './openConnections.js'
import { prepareRefusal, type SendRefusal } from './preparedRefusal.js'
import type { Refusals } from './refusals.js'

export interface RequestsInFlightOptions {
  /** 0: no cap. */
  readonly maxPerAddress: number
  /** Time without progress after which a client that does not read its responses is disconnected. */
  readonly unreadTimeoutMs: number
  readonly addresses: ClientAddresses
  readonly refusals: Refusals
  readonly openConnections: OpenConnections
  readonly delayedRefusals: DelayedRefusals
}

export interface RequestsInFlight {
  /** Calls the handler only for requests within the bounds. */
  bound(handler: RequestListener): RequestListener
  watch(server: Server): void
}

export const maxRequestsPerConnection = 8

/** How many times the cap of a /64 network its IPv6 /48 has. */
export const siteFactor = 2

// A response that is larger than this is sent all the same, but no further one is begun before it was read.
const maxUnsentBytes = 1_048_576

// Node parses a whole packet before it writes: what follows a refusal in the same packet is dropped, and beyond this number
// the connection is closed without its responses, because each dropped request still takes memory.
const maxDropped = 64

const sweepsPerTimeout = 10

interface Connection {
  readonly socket: Socket
  readonly inFlight: Map<ServerResponse, readonly string[]>
  isRefused: boolean
  dropped: number
  sentBytes: number
  sweepsWithoutProgress: number
}

const sendTooManyOnConnection = prepareRefusal(
  new AppError(
    'RATE_LIMITED',
    `More than ${maxRequestsPerConnection} requests in progress on one connection`,
    {
      operationalCode: 'SVC-2005',
      retryAfterSeconds: 1,
    },
  ),
)

const sendTooManyOfAddress = prepareRefusal(
  new AppError('RATE_LIMITED', 'Too many requests of this address are in progress', {
    operationalCode: 'SVC-2005',
    retryAfterSeconds: 1,
  }),
)

const sendTooManyRefusals = prepareRefusal(
  new AppError('RATE_LIMITED', 'Too many refused requests', {
    operationalCode: 'SVC-2005',
    retryAfterSeconds: 1,
  }),
)

/**
 * Bounds what one client has in progress: Node emits every request of a packet at once, so one packet of 64 kB could start
 * thousands. A request is in flight until the client's side has taken its response.
 */
export const createRequestsInFlight = ({
  maxPerAddress,
  unreadTimeoutMs,
  addresses,
  refusals,
  openConnections,
  delayedRefusals,
}: RequestsInFlightOptions): RequestsInFlight => {
  const connections = new WeakMap<Socket, Connection>()
  const busy = new Set<Connection>()
  const counts = new Map<string, number>()
  let sweeper: NodeJS.Timeout | null = null

  const listSubjects = (address: string | undefined): readonly string[] => {
    if (maxPerAddress === 0) return []
    const { network, site } = readClientNetworks(address)
    return site === null ? [network] : [network, site]
  }

  const isFull = ([network, site]: readonly string[]): boolean => {
    const isOver = (subject: string | undefined, cap: number): boolean =>
      subject !== undefined && (counts.get(subject) ?? 0) >= cap
    return isOver(network, maxPerAddress) || isOver(site, maxPerAddress * siteFactor)
  }

  const count = (subjects: readonly string[], change: 1 | -1): void => {
    for (const subject of subjects) {
      const left = (counts.get(subject) ?? 0) + change
      if (left === 0) counts.delete(subject)
      else counts.set(subject, left)
    }
  }

  const end = (connection: Connection, response: ServerResponse): void => {
    const subjects = connection.inFlight.get(response)
    if (subjects === undefined) return
    connection.inFlight.delete(response)
    count(subjects, -1)
    if (connection.inFlight.size > 0) return
    busy.delete(connection)
    openConnections.setBusy(connection.socket, false)
  }

  const begin = (connection: Connection, response: ServerResponse, subjects: readonly string[]): void => {
    if (connection.inFlight.size === 0) {
      connection.sentBytes = -1
      connection.sweepsWithoutProgress = 0
      busy.add(connection)
      openConnections.setBusy(connection.socket, true)
      sweeper ??= setInterval(disconnectUnread, unreadTimeoutMs / sweepsPerTimeout).unref()
    }
    connection.inFlight.set(response, subjects)
    count(subjects, 1)
    response.once('close', () => end(connection, response))
  }

  /**
   * The connections of a proxy carry other clients as well: they stay open, and nothing is delayed on them. Others are not
   * busy while a refusal is delayed, so that they make room first.
   */
  const refuse = (connection: Connection, response: ServerResponse, send: SendRefusal): void => {
    if (addresses.isTrusted(connection.socket.remoteAddress)) {
      begin(connection, response, [])
      send(response, { closes: false })
      return
    }
    connection.isRefused = true
    delayedRefusals.add(response, send)
  }

  /** Sweeps are counted instead of time, so that a stall of this process is not held against a client. */
  const disconnectUnread = (): void => {
    for (const connection of busy) {
      const { socket } = connection
      const sentBytes = socket.bytesWritten - socket.writableLength
      const isWaiting = socket.writableLength > 0 && sentBytes === connection.sentBytes
      connection.sentBytes = sentBytes
      connection.sweepsWithoutProgress = isWaiting ? connection.sweepsWithoutProgress + 1 : 0
      if (connection.sweepsWithoutProgress >= sweepsPerTimeout) socket.destroy()
    }
    if (busy.size > 0 || sweeper === null) return
    clearInterval(sweeper)
    sweeper = null
  }

  const drop = (connection: Connection): void => {
    const { socket } = connection
    if (connection.dropped === 0) omitAbortStacks(socket)
    connection.dropped += 1
    if (connection.dropped >= maxDropped) socket.destroy()
  }

  const addConnection = (socket: Socket): Connection => {
    const connection: Connection = {
      socket,
      inFlight: new Map(),
      isRefused: false,
      dropped: 0,
      sentBytes: -1,
      sweepsWithoutProgress: 0,
    }
    connections.set(socket, connection)
    socket.once('close', () => {
      for (const response of [...connection.inFlight.keys()]) {
        end(connection, response)
        // Node emits it only for the response that was being sent, not for those that are queued behind it.
        if (!response.closed) response.emit('close')
      }
    })
    return connection
  }

  return {
    watch: (server) => server.on('connection', addConnection),
    bound: (handler) => (request, response) => {
      const { socket } = request
      const connection = connections.get(socket) ?? addConnection(socket)
      if (connection.isRefused) {
        drop(connection)
        return
      }
      if (
        connection.inFlight.size >= maxRequestsPerConnection ||
        (connection.inFlight.size > 0 && socket.writableLength > maxUnsentBytes)
      ) {
        connection.isRefused = true
        sendTooManyOnConnection(response, { closes: true })
        return
      }
      // Read now: a closed socket has no peer address.
      const address = addresses.read(request)
      if (refusals.isBarred(request, address)) {
        refuse(connection, response, sendTooManyRefusals)
        return
      }
      const subjects = listSubjects(address)
      if (isFull(subjects)) {
        refuse(connection, response, sendTooManyOfAddress)
        return
      }
      begin(connection, response, subjects)
      response.once('close', () => refusals.record({ request, response, address }))
      handler(request, response)
    },
  }
}

/**
 * At the end of a connection Node creates an error for each of its requests without a response. Of the 20 ms that a packet of
 * 64 kB took, their stack traces took 12.
 */
const omitAbortStacks = (socket: Socket): void => {
  let { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => {
    stackTraceLimit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit
  })
}
