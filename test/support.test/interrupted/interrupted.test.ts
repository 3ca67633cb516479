import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { startProcess } from '../../start/support.js'
import { listFiles } from '../../support/listFiles.js'
import { pollUntil } from '../../support/pollUntil.js'
import { findProgram } from '../../support/program.js'
import { readText } from '../../support/readText.js'
import { spawnChild } from '../../support/spawnChild.js'

const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))
const config = fileURLToPath(new URL('vitest.config.ts', import.meta.url))
const started = z.object({ worker: z.number(), folder: z.string(), ports: z.array(z.number()) })

const startSuite = async () => {
  // A process group of its own, as a shell gives to each command.
  const child = spawnChild([process.execPath, vitest, 'run', '--config', config], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const ended = once(child, 'exit')
  const line = await pollUntil(
    () => /started (\{.*\})/.exec(output)?.[1],
    'the suite to start',
    () => output,
  )
  return { ...started.parse(JSON.parse(line)), main: child.pid ?? 0, ended }
}

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })

const areGone = async (ports: readonly number[]): Promise<boolean> =>
  (await Promise.all(ports.map(isRefused))).every((refused) => refused)

it.concurrent.each([
  ['Ctrl-C', 'SIGINT', 'group'],
  ['a terminal that disappears', 'SIGHUP', 'group'],
  ['SIGTERM', 'SIGTERM', 'main'],
  ['kill -9', 'SIGKILL', 'main'],
] as const)('%s leaves no process and no folder of a suite', async (_what, signal, whom) => {
  const { main, folder, ports } = await startSuite()
  process.kill(whom === 'group' ? -main : main, signal)
  await pollUntil(() => areGone(ports), 'the processes to end')
  await pollUntil(() => !existsSync(folder), 'the folder to be removed')
})

it.concurrent('kill -9 of a worker leaves no process, and its folder to the next run', async () => {
  const { worker, folder, ports, ended } = await startSuite()
  process.kill(worker, 'SIGKILL')
  await pollUntil(() => areGone(ports), 'the processes to end')
  await ended

  const { flags, file } = findProgram(new URL('../../support/temporaryFolder.ts', import.meta.url))
  const script = `
    const { makeTemporaryFolder } = await import('${file}')
    process.stdout.write(await makeTemporaryFolder('next-'))`
  const next = startProcess([process.execPath, ...flags, '--input-type=module', '-e', script], {})
  const { code, output, errors } = await next.ended
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(existsSync(folder)).toBe(false)
  // A process that ends by itself removes its own folder.
  expect(existsSync(output)).toBe(false)
})

it('every process of tests and benchmarks is started by spawnChild, which ends it with its parent', () => {
  const allowed = [
    'test/support/spawnChild.ts',
    // Ends when its input does.
    'test/stores/postgres/embedded/support.ts',
  ]
  const starting = /import \{[^}]*\b(?:spawn|fork|exec)\b[^}]*\} from 'node:child_process'/
  const files = ['test', 'bench'].flatMap(listFiles).filter((path) => path.endsWith('.ts'))
  expect(files.filter((path) => starting.test(readText(path))).sort()).toEqual(allowed.sort())
})
