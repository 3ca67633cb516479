import type { Socket } from 'node:net'
import { readClientNetworks } from '../../platform/clientNetwork.js'
import { type ClientAddresses, siteFactor } from './readRequest.js'

/** 0: no cap. */
interface OpenConnectionsOptions {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Time for the first byte to arrive. */
  readonly firstByteTimeoutMs: number
  /** Proxies carry the connections of many clients: only the total counts for them, and they may wait before the first byte. */
  readonly addresses: ClientAddresses
}

export interface OpenConnections {
  /** Closes a connection, this one or an older one, where a cap is reached; returns whether this one stays. */
  accept(socket: Socket): boolean
  /** While a connection has a request in progress, it is not closed to make room. */
  setBusy(socket: Socket, isBusy: boolean): void
}

const sweepsPerTimeout = 5

interface Connection {
  readonly socket: Socket
  readonly groups: readonly Group[]
  /** Without a request so far, and not from a proxy: closed first. */
  isFresh: boolean
}

/** Connections that share a cap. The idle ones are ordered by the time since when they are idle. */
interface Group {
  readonly cap: number
  readonly name: string
  count: number
  readonly fresh: Set<Connection>
  readonly idle: Set<Connection>
}

const createGroup = (name: string, cap: number): Group => ({
  name,
  cap,
  count: 0,
  fresh: new Set(),
  idle: new Set(),
})

/**
 * At a cap, room is made by closing the connection that has been idle for the longest time, of those first that never sent a
 * request: refusing the newest one would let silent connections keep everybody out. Only where all are busy, the newest one
 * is closed, without a response: writing one would cost what the cap protects.
 */
export const createOpenConnections = ({
  maxConnections,
  maxConnectionsPerAddress,
  firstByteTimeoutMs,
  addresses,
}: OpenConnectionsOptions): OpenConnections => {
  const all = createGroup('all', maxConnections)
  const groups = new Map<string, Group>()
  const connections = new WeakMap<Socket, Connection>()
  const silent = new Map<Connection, number>()
  let sweeper: NodeJS.Timeout | null = null

  const getGroup = (name: string, cap: number): Group => {
    const group = groups.get(name) ?? createGroup(name, cap)
    groups.set(name, group)
    return group
  }

  const listGroups = (peer: string | undefined): readonly Group[] => {
    if (maxConnectionsPerAddress === 0 || addresses.isTrusted(peer)) return [all]
    const { network, site } = readClientNetworks(peer)
    const narrow = getGroup(network, maxConnectionsPerAddress)
    return site === null
      ? [all, narrow]
      : [all, narrow, getGroup(site, maxConnectionsPerAddress * siteFactor)]
  }

  const setIdle = (connection: Connection, isIdle: boolean): void => {
    for (const group of connection.groups) {
      group.fresh.delete(connection)
      group.idle.delete(connection)
      if (isIdle) (connection.isFresh ? group.fresh : group.idle).add(connection)
    }
  }

  const remove = (connection: Connection): void => {
    if (connections.get(connection.socket) !== connection) return
    connections.delete(connection.socket)
    silent.delete(connection)
    setIdle(connection, false)
    for (const group of connection.groups) {
      group.count -= 1
      if (group.count === 0 && group !== all) groups.delete(group.name)
    }
  }

  const makeRoom = (group: Group): boolean => {
    if (group.cap === 0 || group.count < group.cap) return true
    const [oldest] = group.fresh.size > 0 ? group.fresh : group.idle
    if (oldest === undefined) return false
    remove(oldest)
    oldest.socket.destroy()
    return true
  }

  /** Sweeps are counted instead of time: bytes that arrived during a stall of this process are read before the next one. */
  const closeSilent = (): void => {
    for (const [connection, sweeps] of silent) {
      const { socket } = connection
      if (socket.bytesRead > 0) silent.delete(connection)
      else if (sweeps < sweepsPerTimeout) silent.set(connection, sweeps + 1)
      else socket.destroy()
    }
    if (silent.size > 0 || sweeper === null) return
    clearInterval(sweeper)
    sweeper = null
  }

  const accept = (socket: Socket): boolean => {
    const peer = socket.remoteAddress
    const connection: Connection = { socket, groups: listGroups(peer), isFresh: !addresses.isTrusted(peer) }
    if (!connection.groups.every(makeRoom)) {
      for (const { name, count } of connection.groups) if (count === 0) groups.delete(name)
      socket.destroy()
      return false
    }
    connections.set(socket, connection)
    for (const group of connection.groups) {
      group.count += 1
      // An emptied group was deleted when room was made in it.
      if (group !== all) groups.set(group.name, group)
    }
    setIdle(connection, true)
    if (connection.isFresh) {
      silent.set(connection, 0)
      sweeper ??= setInterval(closeSilent, firstByteTimeoutMs / sweepsPerTimeout).unref()
    }
    socket.once('close', () => remove(connection))
    return true
  }

  return {
    accept,
    setBusy: (socket, isBusy) => {
      const connection = connections.get(socket)
      if (connection === undefined) return
      connection.isFresh = false
      setIdle(connection, !isBusy)
    },
  }
}
