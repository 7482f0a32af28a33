// `kcovbox experiment submit`: hands the trials to an engine. Each has a file here.
import type { Command } from 'commander';
import { addKubernetes } from './kubernetes.ts';
import { addParallel } from './parallel.ts';
import { addRedis } from './redis.ts';
import { addSlurm } from './slurm.ts';
import { addSnakemake } from './snakemake.ts';

export function addSubmit(command: Command): void {
  command
    .description('hand the trials to a batch system or another engine')
    .addHelpText('after', '\nExample:\n  kcovbox experiment submit slurm lost.experiment');
  addSlurm(command.command('slurm'));
  addParallel(command.command('parallel'));
  addKubernetes(command.command('kubernetes'));
  addRedis(command.command('redis'));
  addSnakemake(command.command('snakemake'));
}
