import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { readClientNetworks, readClientSite } from '../../platform/clientNetwork.js'
import { type AcceptedKeys, findKeyHash, type KeyCustomer } from '../auth/presentedKey.js'
import type { OpenConnections } from './openConnections.js'
import { describePace, type Pace, type PacedCaller } from './pace.js'
import { type ClientAddresses, isMetricsRequest, isProbeRequest, siteFactor } from './readRequest.js'
import type { Refusals } from './refusals.js'
import {
  type DelayedRefusals,
  maxRequestsPerConnection,
  type SendRefusal,
  sendTooManyOfAddress,
  sendTooManyOnConnection,
  sendTooManyRefusals,
  sendWithoutHost,
} from './sendRefusal.js'
import type { Caller, Turns } from './turns.js'
import { createSmallChunks, ignoreRest } from './unreadBodies.js'

interface RequestsInFlightOptions {
  /** Bounds the accepted keys of each customer at one address, and all other requests of this address; 0: no cap. */
  readonly maxPerAddress: number
  readonly acceptedKeys: AcceptedKeys
  /** Time without progress after which a client that does not read its responses is disconnected. */
  readonly unreadTimeoutMs: number
  readonly addresses: ClientAddresses
  readonly refusals: Refusals
  readonly openConnections: OpenConnections
  readonly delayedRefusals: DelayedRefusals
  readonly turns: Turns
  readonly pace: Pace
  /** Probes beyond those that an address may send wait this long. */
  readonly probeDelayMs: number
}

interface RequestsInFlight {
  /** Calls the handler only for requests within the bounds. */
  bound(handler: RequestListener): RequestListener
  /** Takes a new connection, of which nothing is read before `read` is called. */
  accept(socket: Socket, read: () => void): void
}

/** How many times the cap of one customer's accepted keys all accepted keys of an address have. */
export const keysFactor = 4

/** A larger response is sent all the same, but no further one is begun before it was read. */
const maxUnsentBytes = 1_048_576

const sweepsPerTimeout = 10

/** What a request counts towards. */
interface Share {
  readonly subject: string
  readonly cap: number
}

interface Sender {
  readonly address: string | undefined
  /** Null: without a key that this process accepted. */
  readonly owner: KeyCustomer | null
}

interface Connection {
  readonly socket: Socket
  readonly inFlight: Map<ServerResponse, readonly Share[]>
  sentBytes: number
  sweepsWithoutProgress: number
}

/**
 * Bounds what one client has in progress: Node emits every request of a packet at once, so one packet of 64 kB could start
 * thousands. A request is in flight until the client's side has taken its response.
 */
export const createRequestsInFlight = ({
  maxPerAddress,
  unreadTimeoutMs,
  acceptedKeys,
  addresses,
  refusals,
  openConnections,
  delayedRefusals,
  turns,
  pace,
  probeDelayMs,
}: RequestsInFlightOptions): RequestsInFlight => {
  const connections = new WeakMap<Socket, Connection>()
  const busy = new Set<Connection>()
  const smallChunks = createSmallChunks()
  const counts = new Map<string, number>()
  let sweeper: NodeJS.Timeout | null = null

  const listSharesOf = (kind: string, address: string | undefined, cap: number): readonly Share[] => {
    const { network, site } = readClientNetworks(address)
    const narrow = { subject: `${kind} ${network}`, cap }
    return site === null ? [narrow] : [narrow, { subject: `${kind} ${site}`, cap: cap * siteFactor }]
  }

  /**
   * Requests without a key can take long, such as those whose body arrives slowly; so they never count against keys behind
   * the same NAT. Keys that this process does not know yet count apart from both: a valid one could otherwise not become
   * accepted, and a wrong one is refused before its body is read.
   */
  const listShares = ({ headers }: IncomingMessage, { address, owner }: Sender): readonly Share[] => {
    if (maxPerAddress === 0) return []
    if (owner !== null) {
      const { network } = readClientNetworks(address)
      const own = { subject: `${network} ${owner.customer}`, cap: maxPerAddress }
      return [own, ...listSharesOf('keys', address, maxPerAddress * keysFactor)]
    }
    const kind = findKeyHash(headers) === null ? 'anonymous' : 'unknown keys'
    return listSharesOf(kind, address, maxPerAddress)
  }

  const isFull = ({ subject, cap }: Share): boolean => (counts.get(subject) ?? 0) >= cap

  const count = (shares: readonly Share[], change: 1 | -1): void => {
    for (const { subject } of shares) {
      const left = (counts.get(subject) ?? 0) + change
      if (left === 0) counts.delete(subject)
      else counts.set(subject, left)
    }
  }

  const end = (connection: Connection, response: ServerResponse): void => {
    const shares = connection.inFlight.get(response)
    if (shares === undefined) return
    connection.inFlight.delete(response)
    count(shares, -1)
    if (connection.inFlight.size > 0) return
    busy.delete(connection)
    openConnections.setBusy(connection.socket, false)
  }

  const begin = (connection: Connection, response: ServerResponse, shares: readonly Share[]): void => {
    if (connection.inFlight.size === 0) {
      connection.sentBytes = -1
      connection.sweepsWithoutProgress = 0
      busy.add(connection)
      sweeper ??= setInterval(disconnectUnread, unreadTimeoutMs / sweepsPerTimeout).unref()
    }
    connection.inFlight.set(response, shares)
    count(shares, 1)
    response.once('close', () => end(connection, response))
  }

  /**
   * The connections of a proxy carry other clients as well: they stay open, and nothing is delayed on them. Others are not
   * busy while a refusal is delayed, so that they make room first.
   */
  const refuse = (connection: Connection, response: ServerResponse, send: SendRefusal): void => {
    if (addresses.isTrusted(connection.socket.remoteAddress)) {
      begin(connection, response, [])
      openConnections.setBusy(connection.socket, true)
      smallChunks.bound(response)
      send(response, { closes: false })
      return
    }
    ignoreRest(response.req)
    delayedRefusals.add(response, send)
  }

  const findCaller = ({ address, owner }: Sender): PacedCaller => {
    const { isProven = false, customer = null, tier = null } = owner ?? {}
    return { isProven, site: readClientSite(address), customer, tier }
  }

  const startInTurn = (
    request: IncomingMessage,
    response: ServerResponse,
    { caller, start }: { readonly caller: Caller; readonly start: () => void },
  ): void => {
    const cancel = turns.begin(request, caller, start)
    // The caps of its address do not count it any more.
    if (cancel !== null) response.once('close', cancel)
  }

  const startAfter = (delayMs: number, response: ServerResponse, start: () => void): void => {
    const waiting = setTimeout(start, delayMs).unref()
    response.once('close', () => clearTimeout(waiting))
  }

  /** Orchestrators give up checks after a second, which collectors of metrics do not. */
  const findProbeDelay = (request: IncomingMessage): number =>
    isMetricsRequest(request) ? probeDelayMs : probeDelayMs / 4

  /**
   * Probes are counted, and never refused: a load balancer may share the address of a client. In a flood of them those that
   * are too many wait, so that a connection sends few; on the connections of a proxy that would hold up others.
   */
  const mustWait = ({ socket }: Connection, address: string | undefined): boolean =>
    refusals.countProbe(address) && probeDelayMs > 0 && !addresses.isTrusted(socket.remoteAddress)

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

  const addConnection = (socket: Socket): Connection => {
    const connection: Connection = {
      socket,
      inFlight: new Map(),
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
    accept: (socket, read) => {
      addConnection(socket)
      const { remoteAddress } = socket
      const isOfProxy = addresses.isTrusted(remoteAddress)
      turns.noteConnection(
        socket,
        isOfProxy ? null : findCaller({ address: remoteAddress, owner: null }),
        read,
      )
    },
    bound: (handler) => (request, response) => {
      const { socket } = request
      const connection = connections.get(socket) ?? addConnection(socket)
      if (
        connection.inFlight.size >= maxRequestsPerConnection ||
        (connection.inFlight.size > 0 && socket.writableLength > maxUnsentBytes)
      ) {
        ignoreRest(request)
        sendTooManyOnConnection(response, { closes: true })
        return
      }
      if (request.httpVersion === '1.1' && request.headers.host === undefined) {
        ignoreRest(request)
        sendWithoutHost(response, { closes: true })
        return
      }
      addresses.removePorts(request)
      // Read now: a closed socket has no peer address.
      const address = addresses.read(request)
      if (refusals.isBarred(request, address)) {
        refuse(connection, response, sendTooManyRefusals)
        return
      }
      const sender = { address, owner: acceptedKeys.find(request.headers) }
      const shares = listShares(request, sender)
      const isProbe = isProbeRequest(request)
      if (!isProbe && shares.some(isFull)) {
        refuse(connection, response, sendTooManyOfAddress)
        return
      }
      const waits = isProbe && mustWait(connection, address)
      if (waits && connection.inFlight.size > 0) {
        refuse(connection, response, sendTooManyOnConnection)
        return
      }
      // A waiting request takes no slot of its address, and its connection is closed first when room is needed.
      begin(connection, response, waits ? [] : shares)
      openConnections.setBusy(socket, !waits)
      smallChunks.bound(response)
      response.once('close', () => refusals.record({ request, response, address }))
      const start = () => handler(request, response)
      const caller = findCaller(sender)
      if (waits) {
        startAfter(findProbeDelay(request), response, () => {
          openConnections.setBusy(socket, true)
          startInTurn(request, response, { caller, start })
        })
        return
      }
      const delayMs = isProbe ? 0 : pace.findDelay(caller, describePace(request))
      if (delayMs === 0) startInTurn(request, response, { caller, start })
      else startAfter(delayMs, response, () => startInTurn(request, response, { caller, start }))
    },
  }
}
