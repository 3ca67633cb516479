import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { callRpc } from './jsonRpc.js'

/** How a local chain starts. */
export interface AnvilOptions {
  readonly chainId: number
  /** Mines a block every so many seconds, 0.2 for example; without it each transaction is mined at once. */
  readonly blockTimeSeconds?: number
  /** Gas limit of a block; high by default, because anvil loses queued transactions when blocks fill up. */
  readonly gasLimit?: number
  /** More command line options of anvil. */
  readonly extraArgs?: readonly string[]
}

/** A running anvil process. */
export interface Anvil {
  readonly url: string
  readonly port: number
  /** Ends the process; returns when it is gone. May be called twice. */
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
    // The platform's package is a dependency of the anvil package, not ours: it may be nested beneath it.
    const fromAnvil = createRequire(fromHere.resolve('@foundry-rs/anvil/package.json'))
    const binary = fromAnvil.resolve(`@foundry-rs/anvil-${platform}/bin/${name}`)
    if (existsSync(binary)) return binary
  } catch {
    // Falls through to the error that says what to do.
  }
  throw new Error(
    `The anvil binary for ${platform} is not installed: run npm install without --omit=optional or --omit=dev`,
  )
}

/** The command that makes a child die with this process, or none where the system has no such thing. */
const findDeathSignalPrefix = (): readonly string[] => {
  const prefix = ['setpriv', '--pdeathsig', 'TERM'] as const
  // Busybox has a setpriv without this option, so only a trial tells.
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
  // Without the kernel's help a signal that ends this process would skip the exit hook.
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
 * Starts an empty local chain on a free loopback port, without any funded account.
 * It ends with `stop()` or with this process, whichever comes first, and never keeps this process alive.
 */
export const startAnvil = async (options: AnvilOptions): Promise<Anvil> => {
  deathSignalPrefix ??= findDeathSignalPrefix()
  const command = [
    ...deathSignalPrefix,
    findBinary(),
    ...['--host', '127.0.0.1', '--port', '0', '--accounts', '0'],
    ...['--chain-id', String(options.chainId), '--gas-limit', String(options.gasLimit ?? defaultGasLimit)],
    // The whole history stays in memory otherwise: 1.7 GB after 1,800 blocks were seen.
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
      // Nobody reads the log any more, but a full pipe would stop anvil.
      stream?.resume()
      if (stream instanceof Socket) stream.unref()
    }
    return { url, port, stop: () => stopChild(child) }
  } catch (error) {
    await stopChild(child)
    throw error
  }
}
