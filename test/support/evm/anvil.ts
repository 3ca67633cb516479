import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
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

export interface Anvil {
  readonly url: string
  readonly port: number
  /** Returns when the process has exited. Idempotent. */
  stop(): Promise<void>
}

const startDeadlineMs = 10_000
const stopDeadlineMs = 2_000
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

/** Command prefix that ends the child with this process; empty if unsupported. */
const findDeathSignalPrefix = (): readonly string[] => {
  const prefix = ['setpriv', '--pdeathsig', 'TERM'] as const
  // Busybox's setpriv lacks this option, so try it.
  const trial = spawnSync(prefix[0], [...prefix.slice(1), 'true'], { stdio: 'ignore' })
  return trial.status === 0 ? prefix : []
}

let deathSignalPrefix: readonly string[] | null = null
const running = new Set<ChildProcess>()

const endAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}

const endWithThisProcess = (child: ChildProcess, hasDeathSignal: boolean): void => {
  if (running.size === 0) process.once('exit', endAll)
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    if (running.size === 0) process.off('exit', endAll)
  })
  if (hasDeathSignal) return
  // Without it, a signal that ends this process would skip the exit hook.
  const onSignal = (signal: NodeJS.Signals): void => {
    child.kill('SIGKILL')
    process.kill(process.pid, signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, onSignal)
    child.once('exit', () => process.off(signal, onSignal))
  }
}

const readPort = async (child: ChildProcess): Promise<number> => {
  let output = ''
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer)
      reject(new Error(`anvil ${why}: ${output.trim().slice(-500)}`))
    }
    const timer = setTimeout(() => fail(`did not start within ${startDeadlineMs} ms`), startDeadlineMs)
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      child.stdout?.off('data', read)
      resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-5_000)
    })
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`))
  })
}

const waitUntilReady = async (url: string, chainId: number): Promise<void> => {
  const deadline = Date.now() + startDeadlineMs
  for (;;) {
    const answer = await callRpc(url, 'eth_chainId').catch((error: unknown) => error)
    if (answer === `0x${chainId.toString(16)}`) return
    if (Date.now() > deadline) throw new Error(`anvil at ${url} is not ready: ${answer}`)
    await sleep(10)
  }
}

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs)
  await gone
  clearTimeout(timer)
}

/**
 * An empty chain on a free loopback port, without funded accounts. Ends with `stop()` or with this process.
 */
export const startAnvil = async (options: AnvilOptions): Promise<Anvil> => {
  deathSignalPrefix ??= findDeathSignalPrefix()
  const command = [
    ...deathSignalPrefix,
    findBinary(),
    ...['--host', '127.0.0.1', '--port', '0', '--accounts', '0'],
    ...['--chain-id', String(options.chainId), '--gas-limit', String(options.gasLimit ?? defaultGasLimit)],
    // Otherwise the whole history stays in memory: 1.7 GB after 1,800 blocks.
    ...['--prune-history', '64'],
    ...(options.blockTimeSeconds === undefined ? [] : ['--block-time', String(options.blockTimeSeconds)]),
    ...(options.extraArgs ?? []),
  ]
  const [program = '', ...programArgs] = command
  const child = spawn(program, programArgs, { stdio: ['ignore', 'pipe', 'pipe'] })
  endWithThisProcess(child, deathSignalPrefix.length > 0)
  try {
    const port = await readPort(child)
    const url = `http://127.0.0.1:${port}`
    await waitUntilReady(url, options.chainId)
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
