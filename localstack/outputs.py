"""Writes the outputs of a stack to FOLDER/outputs.json and FOLDER/outputs.env.

Usage: outputs.py STACK FOLDER. The JSON keeps the template's names; the other is for shells. Where
the local parts are, and the times that tests depend on, stand beside the outputs.
"""

import json
import os
import pathlib
import re
import sys

import boto3

stack, folder = sys.argv[1], pathlib.Path(sys.argv[2])
described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
outputs["Endpoint"] = os.environ["AWS_ENDPOINT_URL"]
outputs["Region"] = os.environ["AWS_DEFAULT_REGION"]
outputs["RedisUrl"] = os.environ["REDIS_URL"]
outputs["HoldSeconds"] = int(os.environ["HOLD_SECONDS"])
outputs["PersistenceTimeoutSeconds"] = int(os.environ["PERSISTENCE_TIMEOUT_SECONDS"])

(folder / "outputs.json").write_text(json.dumps(outputs, indent=2) + "\n")
with (folder / "outputs.env").open("w") as env:
    for name, value in outputs.items():
        screaming = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
        env.write(f"{screaming}={value}\n")
