import { basename, relative } from 'node:path'

type Invocation =
  | { readonly kind: 'serve' }
  | { readonly kind: 'admin' | 'listen'; readonly args: readonly string[] }
  | { readonly kind: 'deploy'; readonly network: string; readonly isDryRun: boolean }
  | { readonly kind: 'help' | 'adminHelp' | 'deployHelp' | 'version' }

export const help = (program: Program): string => `Usage: ${listCommands(program).join('\n       ')}

Options:
  -h, --help       shows this text
  -v, --version    shows the version

Settings are environment variables, or lines of a file .env in this folder: .env.example lists them all.
Nothing is required to start. To settle USDC on Base:

  EVM_PRIVATE_KEY=0x... EVM_RPC_URL_8453=https://... ${program.start}`

const listCommands = ({ start, admin, check, deploy, listen }: Program): readonly string[] => {
  const commands = [
    [start, 'runs the facilitator'],
    [`${admin} <command>`, 'manages accounts; --help lists the commands'],
    [check, 'checks configuration, stores, keys and nodes; changes nothing'],
    [`${deploy} --network …`, 'deploys the contracts; --help explains it'],
    [`${listen} --key …`, 'shows the events of a project; --help explains it'],
  ] as const
  const width = Math.max(...commands.map(([command]) => command.length))
  return commands.map(([command, meaning]) => `${command.padEnd(width)}   ${meaning}`)
}

export const deployHelp = ({ deploy }: Program): string => `Usage: ${deploy} --network <id> [--dry-run]

Deploys what the network lacks of quittance's contracts, paid by the first key of EVM_PRIVATE_KEY, through the endpoints
that the service uses. The addresses are the same on every network; the router's follows from the keys. Run again, it
sends nothing.

  --network <id>   such as eip155:8453
  --dry-run        shows what it would cost, and sends nothing`

/** What is not understood ends with exit code 2, as in POSIX utilities. */
export class CommandLineError extends Error {
  constructor(problem: string) {
    super(problem)
    this.name = 'CommandLineError'
  }
}

const helpFlags = ['--help', '-h']

/** Throws `CommandLineError`. */
export const readCommandLine = (args: readonly string[]): Invocation => {
  const [first, ...rest] = args
  const asksForHelp = args.some((word) => helpFlags.includes(word))
  switch (first) {
    case undefined:
      return { kind: 'serve' }
    case 'start':
      if (asksForHelp) return { kind: 'help' }
      if (rest[0] !== undefined) throw unknownWord(rest[0])
      return { kind: 'serve' }
    case 'admin':
      return asksForHelp ? { kind: 'adminHelp' } : { kind: 'admin', args: rest }
    case 'check':
      return asksForHelp ? { kind: 'adminHelp' } : { kind: 'admin', args }
    case 'deploy':
      return asksForHelp ? { kind: 'deployHelp' } : readDeploy(rest)
    case 'listen':
      return { kind: 'listen', args: rest }
    default:
      if (asksForHelp) return { kind: 'help' }
      if (first === '--version' || first === '-v') return { kind: 'version' }
      throw unknownWord(first)
  }
}

const unknownWord = (word: string): CommandLineError =>
  new CommandLineError(
    word.startsWith('-')
      ? `Unknown option '${nameOf(word)}'.`
      : `Unknown command '${nameOf(word)}': there are start, admin, check, deploy and listen.`,
  )

const readDeploy = (args: readonly string[]): Invocation => {
  let network: string | null = null
  let isDryRun = false
  const words = args.flatMap((word) => (word.startsWith('--network=') ? word.split(/=(.*)/s, 2) : [word]))
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--dry-run') isDryRun = true
    else if (word === '--network') {
      at += 1
      network = words[at] ?? null
    } else throw new CommandLineError(`Unknown option '${nameOf(word)}'.`)
  }
  if (network === null || !/^[a-z0-9-]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(network)) {
    throw new CommandLineError('--network must be a CAIP-2 identifier, such as eip155:8453.')
  }
  return { kind: 'deploy', network, isDryRun }
}

/** Leaves out its value, which may be a secret, and what controls a terminal. */
const nameOf = (word: string): string => (word.split('=')[0] ?? '').replaceAll(/\p{C}/gu, '').slice(0, 60)

/** How each command is written where the service was called, without its arguments. */
interface Program {
  readonly start: string
  readonly help: string
  readonly admin: string
  readonly check: string
  readonly deploy: string
  readonly listen: string
}

const npm: Program = {
  start: 'npm start',
  help: 'npm start -- --help',
  admin: 'npm run admin --',
  check: 'npm run admin -- check',
  deploy: 'npm run deploy --',
  listen: 'npm run listen --',
}

/** By the script that Node.js was started with: that of the npm scripts, the command of the image, or another file. */
export const readProgram = (script: string, workingFolder: string): Program => {
  const name = basename(script)
  if (name === 'start.mjs') return npm
  const path = relative(workingFolder, script)
  const command = name === 'quittance' ? name : `node ${path.startsWith('..') ? script : path}`
  return {
    start: `${command} start`,
    help: `${command} --help`,
    admin: `${command} admin`,
    check: `${command} check`,
    deploy: `${command} deploy`,
    listen: `${command} listen`,
  }
}
