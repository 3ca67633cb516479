import { describe, expect, it } from 'vitest'
import { usage as adminUsage } from '../../src/cli/admin/command.js'
import {
  CommandLineError,
  deployHelp,
  help,
  readCommandLine,
  readProgram,
} from '../../src/cli/commandLine.js'
import { usage as listenUsage } from '../../src/cli/listen/options.js'

describe('the command line', () => {
  it.each([
    [[], { kind: 'serve' }],
    [['start'], { kind: 'serve' }],
    [['start', '--help'], { kind: 'help' }],
    [['--help'], { kind: 'help' }],
    [['-h'], { kind: 'help' }],
    [['--version'], { kind: 'version' }],
    [['-v'], { kind: 'version' }],
    [['admin', 'keys', 'list', '--json'], { kind: 'admin', args: ['keys', 'list', '--json'] }],
    [['admin', '--help'], { kind: 'adminHelp' }],
    [['admin', 'keys', '-h'], { kind: 'adminHelp' }],
    [['check'], { kind: 'admin', args: ['check'] }],
    [['check', '--json'], { kind: 'admin', args: ['check', '--json'] }],
    [['check', '--help'], { kind: 'adminHelp' }],
    [['listen', '--help'], { kind: 'listen', args: ['--help'] }],
    [['listen', '--key', 'k'], { kind: 'listen', args: ['--key', 'k'] }],
    [['deploy', '--help'], { kind: 'deployHelp' }],
    [['deploy', '--network', 'eip155:8453'], { kind: 'deploy', network: 'eip155:8453', isDryRun: false }],
    [
      ['deploy', '--dry-run', '--network=eip155:8453'],
      { kind: 'deploy', network: 'eip155:8453', isDryRun: true },
    ],
  ])('%j asks for %j', (args, invocation) => {
    expect(readCommandLine(args)).toEqual(invocation)
  })

  it.each([
    [['--port=8080'], "Unknown option '--port'."],
    [['--EVM_PRIVATE_KEY=0x1234'], "Unknown option '--EVM_PRIVATE_KEY'."],
    [['serve'], "Unknown command 'serve': there are start, admin, check, deploy and listen."],
    [['start', 'admin'], "Unknown command 'admin'"],
    [['start', '--port=1234'], "Unknown option '--port'."],
    [['deploy'], '--network must be a CAIP-2 identifier, such as eip155:8453.'],
    [['deploy', '--network'], '--network must be a CAIP-2 identifier, such as eip155:8453.'],
    [['deploy', '--network', 'Base1234'], '--network must be a CAIP-2 identifier, such as eip155:8453.'],
    [['deploy', '--key=0x1234'], "Unknown option '--key'."],
    [['--x\u001B[2J'], "Unknown option '--x[2J'."],
  ])('refuses %j with a sentence, and without the value', (args, sentence) => {
    expect(() => readCommandLine(args)).toThrow(CommandLineError)
    expect(() => readCommandLine(args)).toThrow(sentence)
    expect(() => readCommandLine(args)).not.toThrow(/1234/)
  })
})

describe('the help', () => {
  it.each([
    ['/app/scripts/start.mjs', 'npm start', 'npm run admin -- <command>', 'npm run listen -- --key'],
    ['/usr/local/bin/quittance', 'quittance start', 'quittance admin <command>', 'quittance listen --key'],
    [
      '/app/dist/main.js',
      'node dist/main.js start',
      'node dist/main.js admin <',
      'node dist/main.js listen --',
    ],
  ])('names the commands as %s calls them', (script, start, admin, listen) => {
    const program = readProgram(script, '/app')
    const text = help(program)
    for (const command of [start, admin, listen]) expect(text).toContain(command)
    expect(adminUsage(program.admin)).toMatch(new RegExp(`^Usage: ${admin}`))
    expect(listenUsage(program.listen)).toMatch(new RegExp(`^Usage: ${listen}`))
    expect(deployHelp(program)).toMatch(
      /^Usage: (?:npm run deploy --|quittance deploy|node dist\/main\.js deploy) --network/,
    )
    if (!script.endsWith('start.mjs')) {
      for (const each of [text, adminUsage(program.admin), listenUsage(program.listen), deployHelp(program)])
        expect(each).not.toContain('npm')
    }
  })
})
