-- Slurm's job submit plugin for `yardmaster slurm`: gives new jobs a lease. Install it beside slurm.conf,
-- with JobSubmitPlugins=lua there. Nothing here waits for anything: slurmctld holds its locks meanwhile.
--
-- A job with a lease waits for the agent, which starts it or renews the lease. If the agent is dead, Slurm
-- starts the job by itself when the lease ends. Jobs which the agent could not decide on get no lease.

local LEASE_S = 30
-- The partitions, and unless empty the accounts, of the agent's configuration: {gpu = true}
local PARTITIONS = {}
local ACCOUNTS = {}
-- The partition of a job that names none; nil: the one that slurm.conf marks Default=YES.
local DEFAULT_PARTITION = nil

local NO_VAL = 0xfffffffe -- "not given", in 32 and in 16 bits
local NO_VAL16 = 0xfffe

local function given(text)
  return text ~= nil and text ~= ""
end

local function default_partition(part_list)
  if DEFAULT_PARTITION then return DEFAULT_PARTITION end
  for name, part in pairs(part_list) do
    if part.flag_default == 1 then return name end
  end
  return ""
end

local function asks_for_gpus(job)
  for _, text in pairs({job.gres or "", job.tres_per_node or "", job.tres_per_job or ""}) do
    if string.find(text, "gpu", 1, true) then return true end
  end
  return false
end

local function gets_lease(job, part_list)
  if not PARTITIONS[job.partition or default_partition(part_list)] then return false end
  if next(ACCOUNTS) ~= nil and not ACCOUNTS[job.account or job.default_account or ""] then return false end
  if not asks_for_gpus(job) then return false end
  -- srun --immediate gives up before a lease ends.
  if job.immediate == 1 or job.immediate == true then return false end
  -- A time or state of the user's own.
  if (job.begin_time or 0) > 0 and job.begin_time < NO_VAL then return false end
  if job.priority == 0 or given(job.admin_comment) then return false end
  for _, text in pairs({job.dependency or "", job.reservation or "", job.licenses or "", job.features or "",
                        job.prefer or "", job.req_nodes or "", job.exc_nodes or "", job.tres_per_task or "",
                        job.tres_per_socket or "", job.burst_buffer or ""}) do
    if text ~= "" then return false end
  end
  if given(job.array_inx) and string.find(job.array_inx, "%", 1, true) then return false end
  -- A part of a heterogeneous job.
  if job.het_job_offset ~= nil and job.het_job_offset < NO_VAL then return false end
  -- --exclusive
  if job.shared ~= nil and job.shared ~= NO_VAL16 and job.shared ~= 1 then return false end
  return true
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  -- Whatever goes wrong here, the job is submitted.
  local fine, lease = pcall(gets_lease, job_desc, part_list)
  if fine and lease then
    job_desc.begin_time = os.time() + LEASE_S
    job_desc.admin_comment = "yardmaster lease"
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

slurm.log_info("yardmaster: new jobs get a lease of %d s", LEASE_S)
return slurm.SUCCESS
