import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { pollUntil } from '../pollUntil.js'
import { spawnChild } from '../spawnChild.js'
import { callRpc } from './jsonRpc.js'

export interface AnvilOptions {
  readonly chainId: number
  /** Block interval in seconds, such as 0.2; default: automining. */
  readonly blockTimeSeconds?: number
  /** Block gas limit; high by default, because anvil loses queued transactions when blocks are full. */
  readonly gasLimit?: number
  /** Additional command line options. */
  readonly extraArgs?: readonly string[]
}

interface Anvil {
  readonly url: string
  readonly port: number
  /** Returns when the process has exited. Idempotent. */
  stop(): Promise<void>
}

const defaultGasLimit = 400_000_000
const architectures = new Map([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
])

const findBinary = (): string => {
  const platform = `${process.platform}-${architectures.get(process.arch) ?? process.arch}`
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  try {
    const fromHere = createRequire(import.meta.url)
    // The platform package is a dependency of the anvil package and may be nested in it.
    const fromAnvil = createRequire(fromHere.resolve('@foundry-rs/anvil/package.json'))
    const binary = fromAnvil.resolve(`@foundry-rs/anvil-${platform}/bin/${name}`)
    if (existsSync(binary)) return binary
  } catch {
    // Falls through to the error with instructions.
  }
  throw new Error(
    `The anvil binary for ${platform} is not installed: run npm install without --omit=optional or --omit=dev`,
  )
}

const readPort = async (child: ChildProcess): Promise<number> => {
  let output = ''
  let failure: string | null = null
  const read = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-5_000)
  }
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', read)
  child.once('error', (error) => {
    failure = error.message
  })
  // Not at `exit`: the last lines say why.
  child.once('close', (code, signal) => {
    failure ??= `ended with ${code ?? signal}`
  })
  const findPort = (): number | null => {
    if (failure !== null) throw new Error(`anvil ${failure}: ${output.trim().slice(-500)}`)
    const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1]
    return port === undefined ? null : Number(port)
  }
  const port = await pollUntil(findPort, 'anvil to listen', () => output)
  for (const stream of [child.stdout, child.stderr]) stream?.off('data', read)
  return port
}

const isReady = async (url: string, chainId: number): Promise<boolean> => {
  const answer = await callRpc(url, 'eth_chainId').catch(() => null)
  return answer === `0x${chainId.toString(16)}`
}

// Nothing to persist.
const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/**
 * An empty chain on a free loopback port, without funded accounts. Ends with `stop()` or with this process.
 */
export const startAnvil = async (options: AnvilOptions): Promise<Anvil> => {
  const command = [
    findBinary(),
    ...['--host', '127.0.0.1', '--port', '0', '--accounts', '0'],
    ...['--chain-id', String(options.chainId), '--gas-limit', String(options.gasLimit ?? defaultGasLimit)],
    // Otherwise the whole history stays in memory: 1.7 GB after 1,800 blocks.
    ...['--prune-history', '64'],
    ...(options.blockTimeSeconds === undefined ? [] : ['--block-time', String(options.blockTimeSeconds)]),
    ...(options.extraArgs ?? []),
  ]
  const child = spawnChild(command, { stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const port = await readPort(child)
    const url = `http://127.0.0.1:${port}`
    await pollUntil(() => isReady(url, options.chainId), 'anvil to answer')
    await callRpc(url, 'anvil_setLoggingEnabled', [false])
    child.unref()
    for (const stream of [child.stdout, child.stderr]) {
      // The log is not read any more, but a full pipe would block anvil.
      stream?.resume()
      if (stream instanceof Socket) stream.unref()
    }
    return { url, port, stop: () => stopChild(child) }
  } catch (error) {
    await stopChild(child)
    throw error
  }
}
